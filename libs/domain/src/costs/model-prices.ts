import { MAX_CALL_USD } from '../bounds.ts';
import type { Invocation } from './invocation.ts';

/** Price of a model, in USD per million tokens. */
export interface ModelPrice {
  /** The whole name of a model, or a prefix followed by `*`. */
  pattern: string;
  inputUsd: number;
  outputUsd: number;
  cacheReadUsd: number;
  cacheWriteUsd: number;
}

const fits = (pattern: string, model: string): boolean =>
  pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : pattern === model;

/**
 * The price of a model: an exact match wins, then the longest prefix. Names are compared case-insensitively.
 * @returns null without a matching row: such calls cost nothing.
 */
export function priceOf(prices: readonly ModelPrice[], model: string): ModelPrice | null {
  const name = model.toLowerCase();
  const exactness = ({ pattern }: ModelPrice) => (pattern.endsWith('*') ? pattern.length : Number.POSITIVE_INFINITY);
  const fitting = prices.filter(({ pattern }) => fits(pattern.toLowerCase(), name));
  return fitting.toSorted((a, b) => exactness(b) - exactness(a))[0] ?? null;
}

type Tokens = Pick<Invocation, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/** The cost of a call by its tokens, in USD with six decimals; at most MAX_CALL_USD. */
export function callCostUsd(price: ModelPrice | null, tokens: Tokens): number {
  if (price === null) return 0;
  const micros =
    tokens.inputTokens * price.inputUsd +
    tokens.outputTokens * price.outputUsd +
    tokens.cacheReadTokens * price.cacheReadUsd +
    tokens.cacheWriteTokens * price.cacheWriteUsd;
  return Math.min(MAX_CALL_USD, Math.round(micros) / 1_000_000);
}

import { MAX_CALL_USD } from '../bounds.ts';
import type { Invocation } from './invocation.ts';

/** What a model takes, in USD per million tokens. */
export interface ModelPrice {
  /** The whole name of a model, or what it begins with, followed by `*`. */
  pattern: string;
  inputUsd: number;
  outputUsd: number;
  cacheReadUsd: number;
  cacheWriteUsd: number;
}

const fits = (pattern: string, model: string): boolean =>
  pattern.endsWith('*') ? model.startsWith(pattern.slice(0, -1)) : pattern === model;

/**
 * The price of a model: of the rows that fit its name the most exact one, which is the longest; a whole name goes
 * before any beginning. Names are compared without case.
 * @returns null where no row fits: such calls cost nothing.
 */
export function priceOf(prices: readonly ModelPrice[], model: string): ModelPrice | null {
  const name = model.toLowerCase();
  const exactness = ({ pattern }: ModelPrice) => (pattern.endsWith('*') ? pattern.length : Number.POSITIVE_INFINITY);
  const fitting = prices.filter(({ pattern }) => fits(pattern.toLowerCase(), name));
  return fitting.toSorted((a, b) => exactness(b) - exactness(a))[0] ?? null;
}

type Tokens = Pick<Invocation, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

/** What a call has cost by its tokens, in USD with six decimals; at most MAX_CALL_USD. */
export function callCostUsd(price: ModelPrice | null, tokens: Tokens): number {
  if (price === null) return 0;
  const micros =
    tokens.inputTokens * price.inputUsd +
    tokens.outputTokens * price.outputUsd +
    tokens.cacheReadTokens * price.cacheReadUsd +
    tokens.cacheWriteTokens * price.cacheWriteUsd;
  return Math.min(MAX_CALL_USD, Math.round(micros) / 1_000_000);
}

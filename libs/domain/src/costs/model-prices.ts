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
 * @returns null without a matching row: then the tokens of a call give no cost.
 */
export function priceOf(prices: readonly ModelPrice[], model: string): ModelPrice | null {
  const name = model.toLowerCase();
  const exactness = ({ pattern }: ModelPrice) => (pattern.endsWith('*') ? pattern.length : Number.POSITIVE_INFINITY);
  const fitting = prices.filter(({ pattern }) => fits(pattern.toLowerCase(), name));
  return fitting.toSorted((a, b) => exactness(b) - exactness(a))[0] ?? null;
}

const TOKEN_KINDS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;
type Tokens = Pick<Invocation, (typeof TOKEN_KINDS)[number]>;

/**
 * The cost of a call by its tokens, in USD with six decimals; at most MAX_CALL_USD.
 * @returns null = unreported: no tokens were reported, or no price applies to them.
 */
export function callCostUsd(price: ModelPrice | null, tokens: Tokens): number | null {
  if (price === null || TOKEN_KINDS.every((kind) => tokens[kind] === 0)) return null;
  const micros =
    tokens.inputTokens * price.inputUsd +
    tokens.outputTokens * price.outputUsd +
    tokens.cacheReadTokens * price.cacheReadUsd +
    tokens.cacheWriteTokens * price.cacheWriteUsd;
  return Math.min(MAX_CALL_USD, Math.round(micros) / 1_000_000);
}

/** Why less than the reported cost of a call is counted. */
export interface CostCap {
  usd: number;
  by: 'price' | 'budget';
}

/**
 * The part of a reported cost that counts: at most the tokens at the price of the model, and at most what is left of the
 * budget of the issue. @returns null = all of it.
 */
export function costCap(
  usd: number,
  { priced, leftUsd }: { priced: number | null; leftUsd: number | null },
): CostCap | null {
  const caps: CostCap[] = [
    ...(priced === null ? [] : [{ usd: priced, by: 'price' as const }]),
    ...(leftUsd === null ? [] : [{ usd: Math.max(0, leftUsd), by: 'budget' as const }]),
  ];
  const lowest = caps.toSorted((a, b) => a.usd - b.usd)[0];
  return lowest && usd > lowest.usd ? lowest : null;
}

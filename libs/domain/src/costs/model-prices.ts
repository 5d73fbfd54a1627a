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

/** More than any usual model costs. */
const MOST_USD_PER_MILLION = 200;

/**
 * The most that the tokens of a call cost, in USD with six decimals: at the highest rate of its model, or 200 USD per million
 * where the table has no rate of this very model.
 * @returns null without tokens: then nothing limits the cost.
 */
export function mostCallUsd(price: ModelPrice | null, tokens: Tokens): number | null {
  const sum = TOKEN_KINDS.reduce((total, kind) => total + tokens[kind], 0);
  if (sum === 0) return null;
  const own = price === null || price.pattern === '*' ? null : price;
  const highest = own ? Math.max(own.inputUsd, own.outputUsd, own.cacheReadUsd, own.cacheWriteUsd) : 0;
  // A price of 0 states nothing about a cost that was reported.
  return Math.round(sum * (highest || MOST_USD_PER_MILLION)) / 1_000_000;
}

/** Why less than the reported cost of a call is counted. */
export interface CostCap {
  usd: number;
  by: 'price' | 'budget';
}

/**
 * The part of a reported cost that counts: at most the most that its tokens cost, and at most what is left of the
 * budget of the issue. @returns null = all of it.
 */
export function costCap(
  usd: number,
  { mostUsd, leftUsd }: { mostUsd: number | null; leftUsd: number | null },
): CostCap | null {
  const caps: CostCap[] = [
    ...(mostUsd === null ? [] : [{ usd: mostUsd, by: 'price' as const }]),
    ...(leftUsd === null ? [] : [{ usd: Math.max(0, leftUsd), by: 'budget' as const }]),
  ];
  const lowest = caps.toSorted((a, b) => a.usd - b.usd)[0];
  return lowest && usd > lowest.usd ? lowest : null;
}

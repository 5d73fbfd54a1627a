import { describe, expect, test } from '@jest/globals';
import { callCostUsd, type ModelPrice, priceOf } from './model-prices.ts';

const price = (pattern: string, inputUsd = 1): ModelPrice => ({
  pattern,
  inputUsd,
  outputUsd: 10,
  cacheReadUsd: 0.1,
  cacheWriteUsd: 1.25,
});

describe('the price of a model', () => {
  const prices = [price('*', 9), price('gpt-5*', 2), price('gpt-5-mini*', 3), price('gpt-5-mini', 4)];
  test.each([
    ['gpt-5-mini', 'gpt-5-mini'],
    ['GPT-5-Mini-2026', 'gpt-5-mini*'],
    ['gpt-5-turbo', 'gpt-5*'],
    ['house-model', '*'],
  ])('the price of %s is that of the row %s', (model, pattern) => {
    expect(priceOf(prices, model)?.pattern).toBe(pattern);
  });
  test('the price is unknown when no row matches', () => {
    expect(priceOf([price('gpt-5*')], 'gpt-4')).toBeNull();
  });
});

test('a call costs its tokens, each kind at its own price, to six decimals', () => {
  const tokens = { inputTokens: 1_000_000, outputTokens: 100_000, cacheReadTokens: 10, cacheWriteTokens: 1 };
  expect(callCostUsd(price('*', 3), tokens)).toBe(3 + 1 + 0.000002);
});

test('a cost is unreported when no price applies or no tokens were reported', () => {
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  expect(callCostUsd(null, { ...none, inputTokens: 10 })).toBeNull();
  expect(callCostUsd(price('*', 3), none)).toBeNull();
  expect(callCostUsd(price('*', 0), { ...none, inputTokens: 10 })).toBe(0);
});

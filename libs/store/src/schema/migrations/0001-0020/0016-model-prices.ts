/**
 * USD per million tokens: input, output, cache read, cache write. List prices of the providers at the time of the
 * migration; an operator with other prices edits the table. `*` prices every other model, like the most expensive
 * common one, so that budgets also apply to models without a price.
 */
export const MODEL_PRICES_OF_0016: readonly (readonly [string, number, number, number, number])[] = [
  ['claude-opus-4*', 15, 75, 1.5, 18.75],
  ['claude-sonnet-4*', 3, 15, 0.3, 3.75],
  ['claude-haiku-4*', 1, 5, 0.1, 1.25],
  ['claude-3-5-haiku*', 0.8, 4, 0.08, 1],
  ['gpt-5*', 1.25, 10, 0.125, 1.25],
  ['gpt-5-mini*', 0.25, 2, 0.025, 0.25],
  ['gpt-4.1*', 2, 8, 0.5, 2],
  ['gpt-4.1-mini*', 0.4, 1.6, 0.1, 0.4],
  ['gemini-2.5-pro*', 1.25, 10, 0.31, 1.25],
  ['gemini-2.5-flash*', 0.3, 2.5, 0.075, 0.3],
  ['scripted-demo*', 0, 0, 0, 0],
  ['*', 15, 75, 1.5, 18.75],
];

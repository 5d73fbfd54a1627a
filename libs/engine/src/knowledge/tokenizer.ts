/** Counts tokens as models of today do. */
export type CountTokens = (text: string) => number;

/**
 * Counts by the vocabulary o200k_base. It takes a quarter of a second and 30 MB to load, so the first retrieval that has
 * something to count loads it; the module cache keeps it. Text that looks like a control token is counted as text.
 */
export async function tokenCounter(): Promise<CountTokens> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  const asText = { disallowedSpecial: new Set<string>() };
  return (text) => countTokens(text, asText);
}

import type { Rows } from './rows.ts';

/** The display name of each repo: its slug, with the tenant where several have the same. */
export function namesOf(repos: Rows['repos']): Map<number, string> {
  const slugs = Map.groupBy(repos, ({ slug }) => slug);
  return new Map(
    repos.map(({ id, slug, tenant }) => [id, (slugs.get(slug) ?? []).length > 1 ? `${slug}@${tenant}` : slug]),
  );
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Compares two texts by code unit. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

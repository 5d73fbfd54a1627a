import type { FleetRepo } from '@pipeline/store';

/** Common fields of the dashboard's sections: rows of one repo. */
export interface OfRepo {
  tenantId: number;
  repoId: number;
}

export const repoKey = ({ tenantId, repoId }: OfRepo): string => `${tenantId}/${repoId}`;

/** Display name of each repo: its slug, with the tenant if the slug is ambiguous. */
export function namesOf(repos: readonly FleetRepo[]): Map<string, string> {
  const bySlug = Map.groupBy(repos, ({ owner, name }) => `${owner}/${name}`.toLowerCase());
  return new Map(
    repos.map((repo) => {
      const slug = `${repo.owner}/${repo.name}`;
      const isShared = (bySlug.get(slug.toLowerCase())?.length ?? 0) > 1;
      return [repoKey(repo), isShared ? `${slug}@${repo.tenant}` : slug];
    }),
  );
}

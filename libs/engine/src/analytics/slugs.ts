import { type AnalyticsScope, type Db, repoNames } from '@pipeline/store';

/** `owner/name` of every repo within a scope, by id; with the tenant appended if the slug is ambiguous. */
export async function slugsOf(fleet: Db, scope: AnalyticsScope): Promise<Map<number, string>> {
  const repos = await repoNames(fleet, scope);
  const tenants = Map.groupBy(repos, ({ slug }) => slug.toLowerCase());
  return new Map(
    repos.map(({ id, slug, tenant }) => [
      id,
      (tenants.get(slug.toLowerCase())?.length ?? 0) > 1 ? `${slug}@${tenant}` : slug,
    ]),
  );
}

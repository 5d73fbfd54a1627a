import type { Rows } from './rows.ts';

/** The rows of some repos; the fleet and the tenants stay whole. */
export function ofRepos(rows: Rows, repoIds: readonly number[]): Rows {
  const wanted = new Set(repoIds);
  const { repos, workerPeriods, tenants, ...rest } = rows;
  const kept = Object.fromEntries(
    Object.entries(rest).map(([name, list]) => [
      name,
      (list as { repoId: number }[]).filter(({ repoId }) => wanted.has(repoId)),
    ]),
  );
  return {
    ...(kept as unknown as Rows),
    repos: repos.filter(({ id }) => wanted.has(id)),
    workerPeriods,
    tenants,
  };
}

/** The same for every repo by itself, in one go. */
export function byRepo(rows: Rows): Map<number, Rows> {
  const { repos, workerPeriods, tenants, ...rest } = rows;
  const groups = Object.entries(rest).map(
    ([name, list]) => [name, Map.groupBy(list as { repoId: number }[], ({ repoId }) => repoId)] as const,
  );
  return new Map(
    repos.map((repo) => [
      repo.id,
      {
        ...(Object.fromEntries(groups.map(([name, lists]) => [name, lists.get(repo.id) ?? []])) as unknown as Rows),
        repos: [repo],
        workerPeriods,
        tenants,
      },
    ]),
  );
}

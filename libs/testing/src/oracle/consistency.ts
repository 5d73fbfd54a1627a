import { byText } from './names.ts';
import type { Rows } from './rows.ts';

/** Records that contradict each other, in the order of the list: the kind, the repo and the issue of each. */
export function consistencyOf(rows: Rows) {
  const byKey = new Map(rows.issues.map((issue) => [`${issue.repoId}#${issue.number}`, issue]));
  const waits = new Set(rows.edges.filter(({ kind, active }) => kind === 'depends_on' && active).map((e) => e.child));
  const pending = new Set(
    rows.writes.filter(({ status }) => status === 'pending').map((w) => `${w.repoId}#${w.issue}`),
  );
  const open = [...byKey].filter(([, { state }]) => state !== 'done');
  const keys: Record<string, Iterable<string>> = {
    stale_blocked: open.filter(([key, { isBlocked }]) => isBlocked && !waits.has(key)).map(([key]) => key),
    stale_subtask_edge: new Set(
      rows.edges
        .filter(({ kind, active, parent }) => kind === 'subtask' && active && byKey.get(parent)?.state === 'done')
        .map(({ parent }) => parent),
    ),
    si_linkage_gap: rows.siIssues
      .filter(({ repoId, number, isOpen }) => isOpen && byKey.get(`${repoId}#${number}`)?.state === 'done')
      .map(({ repoId, number }) => `${repoId}#${number}`),
    label_drift: open.filter(([key, issue]) => !pending.has(key) && drifts(issue)).map(([key]) => key),
    orphan_dependency_edge: new Set(
      rows.edges
        .filter(({ child, parent }) => !byKey.has(child) || !byKey.has(parent))
        .map(({ kind, child, parent }) => (kind === 'depends_on' ? child : parent)),
    ),
  };
  return Object.entries(keys).flatMap(([kind, found]) => inOrder(rows, kind, [...found]));
}

function drifts({ state, isBlocked, isPaused, labels }: Rows['issues'][number]): boolean {
  const wanted = [
    ...(state === 'new' ? [] : [`svc:${state}`]),
    ...(isBlocked ? ['svc:blocked'] : []),
    ...(isPaused ? ['svc:paused'] : []),
  ];
  const shown = labels.filter((label) => label.startsWith('svc:') && label !== 'svc:enqueue' && label !== 'svc:urgent');
  return shown.sort().join() !== wanted.sort().join();
}

function inOrder({ repos }: Rows, kind: string, keys: string[]) {
  const byId = new Map(repos.map((repo) => [repo.id, repo]));
  const shared = new Set(
    repos
      .filter(({ slug, id }) => repos.some((other) => other.slug === slug && other.id !== id))
      .map(({ slug }) => slug),
  );
  return keys
    .flatMap((key) => {
      const [id, number] = key.split('#').map(Number);
      const repo = byId.get(id ?? 0);
      return repo ? [{ repo, issueNumber: number ?? 0 }] : [];
    })
    .sort(
      (a, b) => byText(a.repo.slug, b.repo.slug) || a.repo.tenantId - b.repo.tenantId || a.issueNumber - b.issueNumber,
    )
    .map(({ repo, issueNumber }) => ({
      id: `${kind}:${repo.slug}#${issueNumber}${shared.has(repo.slug) ? `@${repo.tenant}` : ''}`,
      kind,
      repoOwner: repo.owner,
      repoName: repo.name,
      issueNumber,
    }));
}

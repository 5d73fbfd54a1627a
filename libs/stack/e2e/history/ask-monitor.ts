import { sleep } from '@pipeline/runtime';
import type { Store } from '@pipeline/store';
import { byRepo, ofRepos, type Rows } from '@pipeline/testing/oracle';
import { askAnalytics, type Scope } from './ask-analytics.ts';
import { askFleet, askIssue, askRepo, askSearch } from './ask-routes.ts';
import type { Asker } from './asker.ts';

/** Issues of each repo that is looked at closely. */
const ISSUES_OF_REPO = 12;

const POLLED = [
  '/dashboard',
  '/api/task-queue',
  '/api/blocked-issues',
  '/api/regression-guard',
  '/api/consistency',
  '/api/dead-letters',
];

/** Waits until everything that is answered from memory has been read, the figures of the repos included. */
async function polled(asker: Asker): Promise<void> {
  for (const path of POLLED) {
    for (;;) {
      const { polledAt, metrics = {} } = await asker.ask<{ polledAt: string | null; metrics?: object }>(path);
      if (polledAt !== null && (path !== '/dashboard' || Object.keys(metrics).length > 0)) break;
      await sleep(500);
    }
  }
}

interface Asking {
  asker: Asker;
  store: Store;
  rows: Rows;
  now: number;
}

/** Requests everything of the monitor, and compares its metrics: of the deployment, of some tenants, repos and issues. */
export async function askMonitor({ asker, store, rows, now }: Asking): Promise<void> {
  await polled(asker);
  await askFleet(asker);
  const alone = byRepo(rows);
  for (const scope of scopesOf(rows, alone)) {
    await askAnalytics(asker, scope, now);
    await askSearch(asker, scope.whose);
  }
  for (const repo of reposOf(rows)) {
    const own = alone.get(repo.id) ?? rows;
    await askRepo(asker, store, repo);
    const step = Math.ceil(own.issues.length / ISSUES_OF_REPO);
    for (const [index, issue] of own.issues.entries()) {
      if (index % step !== 0) continue;
      await askIssue(asker, store, repo, issue);
    }
  }
}

/** The busiest, the quietest, one in between, and one whose name another tenant has too. */
function reposOf({ repos, issues }: Rows): Rows['repos'] {
  const counts = Map.groupBy(issues, ({ repoId }) => repoId);
  const sorted = repos.toSorted((a, b) => (counts.get(b.id)?.length ?? 0) - (counts.get(a.id)?.length ?? 0));
  const shared = repos.find(({ slug, id }) => repos.some((other) => other.slug === slug && other.id !== id));
  const chosen = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1), shared];
  return chosen.filter((repo) => repo !== undefined);
}

function scopesOf(rows: Rows, alone: Map<number, Rows>): Scope[] {
  const idsOf = (tenant: string) => rows.repos.filter((repo) => repo.tenant === tenant).map(({ id }) => id);
  return [
    { whose: '', rows },
    ...['tenant-1', 'tenant-2'].map((tenant) => ({ whose: `&tenant=${tenant}`, rows: ofRepos(rows, idsOf(tenant)) })),
    ...reposOf(rows).map((repo) => ({
      whose: `&repo=${repo.slug}&tenant=${repo.tenant}`,
      rows: alone.get(repo.id) ?? rows,
    })),
  ];
}

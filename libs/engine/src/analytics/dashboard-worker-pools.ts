import type { FloorWorker, PoolWorker } from '@pipeline/store';
import { poolOf, type WorkerPool } from '../workers/worker-pool.ts';
import type { Counts, Live } from './dashboard-readings.ts';
import { namesOf, repoKey } from './dashboard-repo-names.ts';

/** The workers of every enabled repo. A worker without a list of repos serves all of its tenant. */
export function workerPools(
  { repos }: Pick<Counts, 'repos'>,
  { workers, work }: Pick<Live, 'workers' | 'work'>,
): WorkerPool[] {
  const names = namesOf(repos);
  const byTenant = Map.groupBy(workers, ({ tenant_id }) => tenant_id);
  const waiting = Map.groupBy(
    work.filter(({ pending }) => pending > 0),
    repoKey,
  );
  return repos.map((repo) => {
    const slug = `${repo.owner}/${repo.name}`.toLowerCase();
    const queued = waiting.get(repoKey(repo)) ?? [];
    return poolOf({
      repo: names.get(repoKey(repo)) ?? slug,
      workers: (byTenant.get(repo.tenantId) ?? []).filter((worker) => serves(worker, slug)).map(pooled),
      queueDepth: queued.reduce((sum, { pending }) => sum + pending, 0),
      oldestPendingAgeMs:
        queued.length === 0 ? null : Math.max(...queued.map(({ oldestPendingAgeMs }) => oldestPendingAgeMs ?? 0)),
    });
  });
}

const serves = ({ repos }: FloorWorker, slug: string): boolean =>
  repos.length === 0 || repos.some((served) => served.toLowerCase() === slug);

const pooled = ({ id, status, task, last_heartbeat_at, silent_since, stalled_since }: FloorWorker): PoolWorker => ({
  id,
  status,
  taskType: task?.type ?? null,
  issueNumber: task?.issue_number ?? null,
  lastHeartbeat: last_heartbeat_at,
  lastClaimAt: task?.claimed_at ?? null,
  troubledSince: [silent_since, stalled_since].filter((since) => since !== null).sort()[0] ?? null,
});

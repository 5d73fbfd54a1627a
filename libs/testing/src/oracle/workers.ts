import { AGENT_OF, DEFAULT_SETTINGS, HOUR_MS, MINUTE_MS } from '@pipeline/domain';
import { round } from './arithmetic.ts';
import { estimatesOf } from './metrics/queue.ts';
import { byText, iso, namesOf } from './names.ts';
import { most } from './queue.ts';
import type { Rows } from './rows.ts';

type Worker = Rows['workers'][number];
type Task = Rows['tasks'][number];

const { stallMs, workerSilenceMs } = DEFAULT_SETTINGS;

const onFloor = ({ workers }: Rows): Worker[] =>
  workers.filter(({ hasLeft }) => !hasLeft).sort((a, b) => a.tenantId - b.tenantId || byText(a.name, b.name));

/** The task that a worker has had longest. */
const taskOf = ({ tasks }: Rows, { id }: Worker): Task | undefined =>
  tasks
    .filter(({ claimedBy, status }) => claimedBy === id && status === 'claimed')
    .sort((a, b) => (a.claimedAt ?? 0) - (b.claimedAt ?? 0))[0];

const silentSince = ({ heardAt }: Worker, now: number): number | null =>
  heardAt !== null && heardAt < now - workerSilenceMs ? heardAt + workerSilenceMs : null;

function stuckSince({ leaseUntil, progressAt }: Task, now: number): number | null {
  const ends = [
    ...(leaseUntil !== null && leaseUntil < now ? [leaseUntil] : []),
    ...(progressAt !== null && progressAt < now - stallMs ? [progressAt + stallMs] : []),
  ];
  return ends.length === 0 ? null : Math.min(...ends);
}

export const workersOf = (rows: Rows, now: number) =>
  onFloor(rows)
    .filter((worker) => worker.status !== 'offline' && silentSince(worker, now) === null)
    .map((worker) => ({
      id: worker.id,
      status: worker.status,
      currentTaskId: taskOf(rows, worker)?.id ?? null,
      lastHeartbeat: worker.heardAt && iso(worker.heardAt),
    }));

/** Whether a worker serves a repo: one that names none serves all of its tenant. */
const serves = ({ tenantId, repos }: Worker, repo: Rows['repos'][number]): boolean =>
  tenantId === repo.tenantId && (repos.length === 0 || repos.includes(repo.slug));

export function floorOf(rows: Rows, now: number) {
  const readings = {
    rows,
    now,
    repos: new Map(rows.repos.map((repo) => [repo.id, repo])),
    states: new Map(rows.issues.map(({ id, state }) => [id, state])),
    estimates: estimatesOf(rows, now),
    pending: Map.groupBy(
      rows.tasks.filter(({ status }) => status === 'pending'),
      ({ repoId }) => repoId,
    ),
  };
  return onFloor(rows).map((worker) => {
    const task = taskOf(rows, worker) ?? null;
    const served = rows.repos.filter((repo) => serves(worker, repo));
    return {
      id: worker.id,
      name: worker.name,
      ...conditionOf(worker, task, now),
      draining: worker.draining,
      currentTask: task && currentTaskOf(task, readings),
      queueDepth: served.reduce((sum, { id }) => sum + (readings.pending.get(id)?.length ?? 0), 0),
      utilization8hPct: utilizationOf(rows, worker, now),
      lastHeartbeat: worker.heardAt && iso(worker.heardAt),
      idle: task === null,
    };
  });
}

/** A claim that nobody seems to work on matters most, then silence, then work that was taken away. */
function conditionOf(worker: Worker, task: Task | null, now: number) {
  const silent = silentSince(worker, now);
  const stuck = task && stuckSince(task, now);
  const alert = (reason: string, since: number | null) => (since === null ? null : { reason, since: iso(since) });
  return {
    status: floorStatusOf(worker, { task, silent, stuck }),
    alert: alert('silent', silent) ?? alert('stalled', stuck ?? worker.stalledAt),
  };
}

function floorStatusOf(
  { status, stalledAt }: Worker,
  { task, silent, stuck }: { task: Task | null; silent: number | null; stuck: number | null },
): string {
  if (task && (stuck !== null || silent !== null)) return 'stalled';
  if (silent !== null || status === 'offline') return 'offline';
  if (stalledAt !== null) return 'stalled';
  if (status === 'draining') return 'draining';
  return task ? 'running' : 'idle';
}

interface Readings {
  now: number;
  repos: Map<number, Rows['repos'][number]>;
  states: Map<number, string>;
  estimates: Record<string, number>;
}

function currentTaskOf(task: Task, { now, repos, states, estimates }: Readings) {
  const estimate = estimates[`${task.repoId}/${AGENT_OF[task.type]}`];
  const leftMs = (estimate ?? 0) - (now - (task.claimedAt ?? now));
  return {
    id: task.id,
    type: task.type,
    issueNumber: task.issue || null,
    repo: repos.get(task.repoId)?.slug,
    pipelineState: states.get(task.issueId ?? 0) ?? null,
    etaMinutes: estimate === undefined ? null : round(Math.max(0, leftMs) / MINUTE_MS, 1),
  };
}

/** Second by second would do; the edges of all stretches are exact. */
function utilizationOf({ runs, workerPeriods }: Rows, { id }: Worker, now: number): number {
  const from = now - 8 * HOUR_MS;
  const there = workerPeriods
    .filter(({ workerId, kind }) => workerId === id && kind === 'online')
    .map((period) => [Math.max(from, period.from), Math.min(now, period.to ?? now)] as const);
  const held = runs
    .filter(({ workerId, at }) => workerId === id && at > from - 24 * HOUR_MS)
    .map(({ at, status, endedAt, leaseUntil }) => {
      const end = status === 'cancelled' ? null : endedAt;
      return [at, end ?? Math.min(leaseUntil, now)] as const;
    });
  const edges = [...new Set([...there, ...held].flat())].filter((at) => at >= from && at <= now).sort((a, b) => a - b);
  let [online, busy] = [0, 0];
  for (const [index, start] of edges.entries()) {
    const end = edges[index + 1];
    if (end === undefined || !there.some(([a, b]) => a <= start && end <= b)) continue;
    online += end - start;
    if (held.some(([a, b]) => a <= start && end <= b)) busy += end - start;
  }
  return online === 0 ? 0 : round(Math.min(100, (100 * busy) / online), 1);
}

export function workerPoolsOf(rows: Rows, now: number) {
  const names = namesOf(rows.repos);
  const repos = rows.repos.toSorted((a, b) => byText(a.slug, b.slug) || byText(a.tenant, b.tenant));
  const pending = Map.groupBy(
    rows.tasks.filter(({ status }) => status === 'pending'),
    ({ repoId }) => repoId,
  );
  return repos.map((repo) => {
    const workers = onFloor(rows).filter((worker) => serves(worker, repo));
    const count = (status: Worker['status']) => workers.filter((worker) => worker.status === status).length;
    const present = workers.filter(({ status }) => status !== 'offline');
    const holding = present.filter((worker) => taskOf(rows, worker));
    const waiting = pending.get(repo.id) ?? [];
    return {
      repo: names.get(repo.id),
      total: workers.length,
      idle: count('idle'),
      busy: count('busy'),
      draining: count('draining'),
      offline: count('offline'),
      utilizationPct: present.length === 0 ? 0 : round((100 * holding.length) / present.length, 1),
      queueDepth: waiting.length,
      oldestPendingAgeMs: waiting.length === 0 ? null : most(waiting.map(({ at }) => now - at)),
    };
  });
}

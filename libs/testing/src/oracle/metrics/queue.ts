import { AGENT_OF } from '@pipeline/domain';
import { medianOf, ratioOf, usdOf } from '../arithmetic.ts';
import type { Rows } from '../rows.ts';
import { isWithin, type Metric } from './period.ts';

const DAY = 86_400_000;
const MIN_SAMPLES = 5;

const waits = ({ tasks }: Rows, now: number): number[] =>
  tasks.filter(({ status }) => status === 'pending').map(({ at }) => now - at);

/** Median duration of the completed runs of a week in milliseconds, by `repo id/agent`. */
function estimatesOf({ runs }: Rows, now: number): Record<string, number> {
  const completed = runs.filter(
    ({ status, endedAt }) => status === 'finished' && isWithin({ from: now - 7 * DAY, now }, endedAt),
  );
  const groups = Map.groupBy(completed, ({ repoId, agent }) => `${repoId}/${agent}`);
  return Object.fromEntries(
    [...groups].flatMap(([key, samples]) => {
      const median = medianOf(samples.map(({ at, endedAt }) => (endedAt ?? at) - at));
      return median === null || samples.length < MIN_SAMPLES ? [] : [[key, Math.round(median)]];
    }),
  );
}

/** Metrics of costs and of the queue. */
export const QUEUE_METRICS = {
  cost_today: ({ costs }, { now }) => usdOf(costs.filter(({ at }) => isWithin({ from: now - (now % DAY), now }, at))),
  cost: ({ costs }, period) => usdOf(costs.filter(({ at }) => isWithin(period, at))),
  dlq_depth: ({ deadLetters }) => deadLetters.filter(({ isResolved }) => !isResolved).length,
  pending_tasks: (rows, { now }) => waits(rows, now).length,
  avg_queue_wait(rows, { now }) {
    const all = waits(rows, now);
    return ratioOf(
      all.reduce((sum, wait) => sum + wait, 0),
      all.length,
    );
  },
  oldest_pending_age: (rows, { now }) => waits(rows, now).sort((a, b) => b - a)[0] ?? null,
  projected_drain(rows, { now }) {
    const known = estimatesOf(rows, now);
    const pending = rows.tasks.filter(({ status }) => status === 'pending');
    const each = pending.flatMap(({ repoId, type }) => known[`${repoId}/${AGENT_OF[type]}`] ?? []);
    return each.length === 0 ? null : each.reduce((sum, ms) => sum + ms, 0);
  },
  write_queue: ({ writes }) => writes.filter(({ status }) => status === 'pending' || status === 'failed').length,
} as const satisfies Record<string, Metric>;

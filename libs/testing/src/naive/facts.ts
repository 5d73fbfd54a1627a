import { AGENT_OF, type History as Facts, METRICS, type Metric, type Period } from '@pipeline/domain';
import type { Rows } from './rows.ts';

const known = new WeakMap<Rows, Facts>();

/** The facts that the metric registry is a function of. */
export function factsOf(rows: Rows): Facts {
  const facts = known.get(rows) ?? made(rows);
  known.set(rows, facts);
  return facts;
}

const made = (rows: Rows): Facts =>
  ({
    issues: rows.issues.map((issue) => ({ ...issue, stateEnteredAt: issue.stateAt })),
    transitions: rows.moves,
    pullRequests: rows.pulls.map(({ byAgent, ...pull }) => ({ ...pull, agentAuthored: byAgent })),
    costs: rows.costs,
    // By the claim of their run, which is what the metrics go by.
    invocations: rows.calls.map((call) => ({ ...call, stopReason: call.stop, at: call.claimedAt })),
    runs: rows.runs.map((run) => ({
      ...run,
      claimedAt: run.at,
      finishedAt: run.endedAt,
      isCompleted: run.status === 'finished',
    })),
    tasks: rows.tasks.map((task) => ({ ...task, agent: AGENT_OF[task.type], createdAt: task.at })),
    projections: rows.writes.map((write) => ({ ...write, issueNumber: write.issue })),
    deadLetters: rows.letters,
    workers: rows.workers.map(({ heardAt, hasLeft }) => ({ lastHeartbeatAt: heardAt, hasLeft })),
    workerPeriods: rows.troubles,
    retrospectives: rows.looks.map(({ planned, actual, ...look }) => ({
      ...look,
      plannedFiles: planned,
      actualFiles: actual,
    })),
    edges: rows.edges.map(({ id, kind, active, child, parent }) => ({
      id,
      kind,
      isActive: active,
      child: Number(child.split('#')[1]),
      parent: Number(parent.split('#')[1]),
    })),
    tracks: [],
    siIssues: [],
    openOnHost: [],
    warnAfterMinutes: {},
  }) as Facts;

/** A figure of the registry. */
export function metric(id: string, rows: Rows, period: Period): unknown {
  const found = METRICS.find((one) => one.id === id);
  if (!found) throw new Error(`there is no metric ${id}`);
  return found.compute(factsOf(rows), period as Parameters<Metric['compute']>[1]);
}

/** One that is a number or nothing. */
export const figure = (id: string, rows: Rows, period: Period): number | null =>
  metric(id, rows, period) as number | null;

export const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;

/** What each repo is told by: its slug, and the tenant where several have one of that name. */
export function namesOf(repos: Rows['repos']): Map<number, string> {
  const slugs = Map.groupBy(repos, ({ slug }) => slug);
  return new Map(
    repos.map(({ id, slug, tenant }) => [id, (slugs.get(slug) ?? []).length > 1 ? `${slug}@${tenant}` : slug]),
  );
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** In the order of plain text. */
export const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

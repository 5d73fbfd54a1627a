import { type History as Facts, METRICS, type Metric, SPINE, STATES, type State } from '@pipeline/domain';
import type { TestDatabase } from '@pipeline/testing';
import { sql } from 'kysely';

/** Everything that was written, as it is in the tables: what each endpoint is held against. */
export interface Rows {
  repos: { id: number; tenant: string; slug: string; tenantId: number }[];
  issues: { id: number; repoId: number; enteredAt: number; state: State }[];
  moves: { issueId: number; repoId: number; from: State; to: State; at: number; ms: number }[];
  pulls: { issueId: number | null; repoId: number; mergedAt: number | null; byAgent: boolean }[];
  costs: { repoId: number; agent: string; model: string; provider: string; usd: number; at: number }[];
  calls: {
    repoId: number;
    agent: string;
    model: string;
    provider: string;
    tokens: number[];
    stop: string;
    at: number;
  }[];
  events: { id: number; repoId: number; issue: number | null; type: string; at: number }[];
  runs: { repoId: number; taskType: string; attempt: number; at: number }[];
  letters: { repoId: number; issueId: number; at: number }[];
  looks: { repoId: number; planned: string[] | null; actual: string[] | null; outcome: string | null; at: number }[];
  troubles: { kind: string; from: number; to: number | null }[];
}

const MS = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

const QUERIES: Record<keyof Rows, string> = {
  repos: `select r.id, r.tenant_id as "tenantId", t.external_id as tenant, owner || '/' || r.name as slug
    from repos r join tenants t on t.id = r.tenant_id`,
  issues: `select id, repo_id as "repoId", ${MS('created_at')} as "enteredAt", state from issues`,
  moves: `select issue_id as "issueId", repo_id as "repoId", from_state as "from", to_state as "to", ${MS('at')} as at,
    duration_in_from_ms as ms from transitions order by id`,
  pulls: `select issue_id as "issueId", repo_id as "repoId", case when merged then ${MS('merged_at')} end as "mergedAt",
    agent_authored as "byAgent" from pull_requests`,
  costs: `select c.repo_id as "repoId", c.agent, c.model, a.provider, c.amount_usd as usd, ${MS('c.created_at')} as at
    from cost_events c join agent_invocations a on a.run_id = c.run_id and a.invocation_index = c.invocation_index`,
  calls: `select r.repo_id as "repoId", r.agent, a.model, a.provider, a.stop_reason as stop, ${MS('a.created_at')} as at,
    array[input_tokens, output_tokens, cache_read_tokens, cache_write_tokens] as tokens
    from agent_invocations a join runs r on r.id = a.run_id`,
  events: `select id, repo_id as "repoId", issue_number as issue, event_type as type, ${MS('created_at')} as at
    from pipeline_events order by created_at desc, id desc`,
  runs: `select repo_id as "repoId", task_type as "taskType", attempt, ${MS('claimed_at')} as at from runs`,
  letters: `select repo_id as "repoId", issue_id as "issueId", ${MS('created_at')} as at from dead_letters`,
  looks: `select repo_id as "repoId", array(select jsonb_array_elements_text(planned_files -> 'files')) as planned,
    array(select jsonb_array_elements_text(actual_files -> 'files')) as actual, planned_files is null as "noPlan",
    actual_files is null as "noActual", outcome_classification as outcome, ${MS('created_at')} as at from retrospectives`,
  troubles: `select kind, ${MS('started_at')} as "from", ${MS('ended_at')} as "to" from worker_periods`,
};

export async function readRows({ db }: TestDatabase): Promise<Rows> {
  const all: Partial<Record<keyof Rows, unknown[]>> = {};
  for (const [name, query] of Object.entries(QUERIES)) {
    all[name as keyof Rows] = (await sql.raw(query).execute(db)).rows;
  }
  const rows = all as unknown as Rows;
  for (const look of rows.looks as (Rows['looks'][number] & { noPlan: boolean; noActual: boolean })[]) {
    if (look.noPlan) look.planned = null;
    if (look.noActual) look.actual = null;
  }
  return rows;
}

/** The rows of some repos; the fleet is whole. */
export function ofRepos(rows: Rows, repoIds: readonly number[]): Rows {
  const { repos, troubles, ...rest } = rows;
  const kept = Object.fromEntries(
    Object.entries(rest).map(([name, list]) => [
      name,
      (list as { repoId: number }[]).filter(({ repoId }) => repoIds.includes(repoId)),
    ]),
  );
  return { ...(kept as unknown as Rows), repos: repos.filter(({ id }) => repoIds.includes(id)), troubles };
}

/** Issues by state at a time: each is where its last move before that time brought it. */
export function statesAt({ issues, moves }: Rows, at: number, inclusive: boolean): Record<string, number> {
  const before = (time: number) => (inclusive ? time <= at : time < at);
  const counts: Record<string, number> = Object.fromEntries(STATES.map((state) => [state, 0]));
  const byIssue = Map.groupBy(moves, ({ issueId }) => issueId);
  for (const { id, enteredAt } of issues) {
    if (!before(enteredAt)) continue;
    const state = byIssue.get(id)?.findLast((move) => before(move.at))?.to ?? 'new';
    counts[state] = (counts[state] ?? 0) + 1;
  }
  return counts;
}

const medianOf = (values: readonly number[]): number | null => {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
};

export function funnelOf({ issues, moves }: Rows, from: number) {
  const cohort = new Set(issues.filter(({ enteredAt }) => enteredAt >= from).map(({ id }) => id));
  const walked = moves.filter(({ issueId }) => cohort.has(issueId));
  const count = (state: State): number =>
    state === 'new'
      ? cohort.size
      : new Set(walked.filter((move) => move.to === state).map((move) => move.issueId)).size;
  const shown = STATES.filter((state) => (SPINE as readonly State[]).includes(state) || count(state) > 0);
  return {
    cohortSize: cohort.size,
    byState: shown.map((state) => {
      const median = medianOf(walked.filter((move) => move.from === state).map(({ ms }) => ms));
      return { state, count: count(state), medianMinutes: median === null ? null : Math.round(median / 60) / 1_000 };
    }),
    drops: SPINE.slice(1).map((to, index) => {
      const before = SPINE[index] ?? 'new';
      return { from: before, to, count: Math.max(0, count(before) - count(to)) };
    }),
  };
}

/** The facts of the metric registry, as far as its weekly, merge and retrospective figures need them. */
export const factsOf = (rows: Rows): Facts =>
  ({
    issues: rows.issues.map((issue) => ({ ...issue, number: issue.id })),
    transitions: rows.moves,
    pullRequests: rows.pulls.map((pull) => ({
      issueId: pull.issueId,
      openedAt: 0,
      mergedAt: pull.mergedAt,
      isReverted: false,
      agentAuthored: pull.byAgent,
    })),
    costs: rows.costs,
    runs: rows.runs.map((run) => ({ ...run, claimedAt: run.at })),
    deadLetters: rows.letters.map((letter) => ({ ...letter, isResolved: false })),
    workerPeriods: rows.troubles,
    retrospectives: rows.looks.map(({ planned, actual, ...look }) => ({
      ...look,
      plannedFiles: planned,
      actualFiles: actual,
    })),
  }) as never;

/** A figure of the registry. */
export function metric(id: string, rows: Rows, period: { from: number; now: number }): unknown {
  const found = METRICS.find((one) => one.id === id);
  if (!found) throw new Error(`there is no metric ${id}`);
  return found.compute(factsOf(rows), period as Parameters<Metric['compute']>[1]);
}

export const round = (value: number, digits: number): number => Math.round(value * 10 ** digits) / 10 ** digits;

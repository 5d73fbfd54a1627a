import { AGENT_OF, type History, type TaskType } from '@pipeline/domain';
import type { Db } from '@pipeline/store';
import { type RawBuilder, sql } from 'kysely';

const ms = (column: string): RawBuilder<number | null> => sql`(extract(epoch from ${sql.ref(column)}) * 1000)::float8`;

/**
 * Everything that a repo has in the store, as plain facts: what the metrics' own functions are computed from, to hold
 * the store's answers against. Reads whole tables.
 */
export async function factsOf(db: Db, repoId: number): Promise<History> {
  const all = async <T>(statement: RawBuilder<T>) => (await statement.execute(db)).rows;
  const issueFacts = all<History['issues'][number]>(sql`
    select id, issue_number as number, state, is_blocked as "isBlocked", is_paused as "isPaused",
      ${ms('paused_at')} as "pausedAt", labels, ${ms('host_created_at')} as "createdAt", ${ms('created_at')} as "enteredAt",
      ${ms('state_entered_at')} as "stateEnteredAt"
    from issues where repo_id = ${repoId}`);
  const runs = await all<{ taskType: TaskType } & Omit<History['runs'][number], 'agent'>>(sql`
    select repo_id as "repoId", task_type as "taskType", work_id as "workId", attempt, status = 'finished' as "isCompleted",
      ${ms('claimed_at')} as "claimedAt", ${ms('finished_at')} as "finishedAt" from runs where repo_id = ${repoId}`);
  const tasks = await all<{ taskType: TaskType } & Omit<History['tasks'][number], 'agent'>>(sql`
    select repo_id as "repoId", task_type as "taskType", status, ${ms('created_at')} as "createdAt"
    from tasks where repo_id = ${repoId}`);
  return {
    issues: await issueFacts,
    transitions: await all(sql`
      select issue_id as "issueId", from_state as "from", to_state as "to", trigger, ${ms('at')} as at
      from transitions where repo_id = ${repoId} order by id`),
    pullRequests: await all(sql`
      select issue_id as "issueId", ${ms('opened_at')} as "openedAt", ${ms('merged_at')} as "mergedAt",
        reverted_by is not null as "isReverted", agent_authored as "agentAuthored"
      from pull_requests where repo_id = ${repoId}`),
    costs: await all(sql`
      select issue_id as "issueId", model, amount_usd as usd, ${ms('created_at')} as at
      from cost_events where repo_id = ${repoId}`),
    invocations: await all(sql`
      select r.issue_id as "issueId", v.model, v.turns, v.stop_reason as "stopReason", ${ms('r.claimed_at')} as at
      from runs r join agent_invocations v on v.tenant_id = r.tenant_id and v.run_id = r.id
      where r.repo_id = ${repoId}`),
    runs: runs.map((run) => ({ ...run, agent: AGENT_OF[run.taskType] })),
    tasks: tasks.map(({ taskType, ...task }) => ({ ...task, agent: AGENT_OF[taskType] })),
    projections: await all(sql`
      select issue_number as "issueNumber", status from projections where repo_id = ${repoId}`),
    deadLetters: await all(sql`
      select issue_id as "issueId", ${ms('created_at')} as at, resolved_at is not null as "isResolved"
      from dead_letters where repo_id = ${repoId}`),
    ...NOT_OF_A_REPO,
  };
}

const NOT_OF_A_REPO = {
  workers: [],
  workerPeriods: [],
  tracks: [],
  retrospectives: [],
  edges: [],
  siIssues: [],
  openOnHost: [],
  warnAfterMinutes: {},
} as const satisfies Partial<History>;

import type { ErrorClass, State, TaskType } from '@pipeline/domain';
import type { Db } from '@pipeline/store';
import { sql } from 'kysely';

/** The rows of the store's tables, from which the oracle computes every answer. Times are milliseconds since 1970, money is USD. */
export interface Rows {
  tenants: { id: number; externalId: string; name: string }[];
  repos: { id: number; tenant: string; owner: string; name: string; slug: string; tenantId: number }[];
  issues: Issue[];
  transitions: Transition[];
  pullRequests: PullRequest[];
  costs: {
    repoId: number;
    issueId: number | null;
    agent: string;
    model: string;
    provider: string;
    usd: number;
    at: number;
  }[];
  invocations: Invocation[];
  runs: Run[];
  tasks: Task[];
  writes: Write[];
  deadLetters: DeadLetter[];
  retrospectives: {
    repoId: number;
    planned: string[] | null;
    actual: string[] | null;
    outcome: string | null;
    at: number;
  }[];
  checks: { repoId: number; sha: string }[];
  workerPeriods: {
    tenantId: number;
    workerId: string;
    kind: 'online' | 'silent' | 'stalled';
    from: number;
    to: number | null;
  }[];
}

interface Issue {
  id: number;
  repoId: number;
  number: number;
  title: string;
  /** Into the pipeline. */
  enteredAt: number;
  /** Time of its creation on the host. */
  createdAt: number;
  state: State;
  stateAt: number;
  isBlocked: boolean;
  isPaused: boolean;
  pausedAt: number | null;
  blockReason: string | null;
  blockClass: ErrorClass | null;
  blockedFrom: State | null;
  lastError: string | null;
  status: string | null;
  labels: string[];
  costUsd: number;
}

interface Transition {
  id: number;
  issueId: number;
  repoId: number;
  from: State;
  to: State;
  trigger: string;
  at: number;
  ms: number;
}

interface PullRequest {
  issueId: number | null;
  repoId: number;
  number: number;
  openedAt: number;
  mergedAt: number | null;
  isOpen: boolean;
  isReverted: boolean;
  revertedBy: number | null;
  headSha: string;
  byAgent: boolean;
}

interface Invocation {
  repoId: number;
  issueId: number | null;
  agent: string;
  model: string;
  provider: string;
  runId: number;
  index: number;
  /** The agent that made the call, as reported. */
  program: string | null;
  usd: number | null;
  tokens: number[];
  turns: number;
  stop: string;
  /** True = it has a cost. */
  isReported: boolean;
  at: number;
  claimedAt: number;
}

interface Run {
  id: number;
  repoId: number;
  issueId: number | null;
  taskType: TaskType;
  agent: string;
  workerId: string;
  workId: string;
  attempt: number;
  status: string;
  outcome: string | null;
  comparedAgent: string;
  at: number;
  endedAt: number | null;
  leaseUntil: number;
  error: string | null;
  fingerprint: string | null;
}

interface Task {
  id: string;
  repoId: number;
  issueId: number | null;
  issue: number;
  workId: string;
  type: TaskType;
  attempt: number;
  status: 'pending' | 'claimed';
  held: string | null;
  priority: number;
  claimedBy: string | null;
  claimedAt: number | null;
  at: number;
  leaseUntil: number | null;
  progressAt: number | null;
}

interface Write {
  id: number;
  repoId: number;
  issue: number;
  lane: string;
  status: 'pending' | 'failed' | 'complete' | 'discarded';
  error: string | null;
  at: number;
}

interface DeadLetter {
  id: string;
  repoId: number;
  issueId: number;
  issue: number;
  from: State | null;
  to: string;
  agent: string | null;
  error: string;
  at: number;
  isResolved: boolean;
}

const MS = (column: string) => `(extract(epoch from ${column}) * 1000)::bigint`;

const QUERIES: Record<keyof Rows, string> = {
  tenants: `select id, external_id as "externalId", name from tenants where id > 0 order by external_id`,
  repos: `select r.id, r.tenant_id as "tenantId", t.external_id as tenant, owner, r.name, owner || '/' || r.name as slug
    from repos r join tenants t on t.id = r.tenant_id order by r.id`,
  issues: `select id, repo_id as "repoId", issue_number as number, title, ${MS('created_at')} as "enteredAt",
    ${MS('host_created_at')} as "createdAt", state, ${MS('state_entered_at')} as "stateAt", is_blocked as "isBlocked",
    is_paused as "isPaused", ${MS('paused_at')} as "pausedAt", block_reason as "blockReason",
    block_classification as "blockClass", blocked_from_state as "blockedFrom", last_error as "lastError",
    current_status as status, labels, cost_usd as "costUsd" from issues`,
  transitions: `select id, issue_id as "issueId", repo_id as "repoId", from_state as "from", to_state as "to", trigger,
    ${MS('at')} as at, duration_in_from_ms as ms from transitions order by id`,
  pullRequests: `select issue_id as "issueId", repo_id as "repoId", number, ${MS('opened_at')} as "openedAt",
    case when merged then ${MS('merged_at')} end as "mergedAt", state = 'open' as "isOpen",
    reverted_by is not null as "isReverted", reverted_by as "revertedBy", head_sha as "headSha", agent_authored as "byAgent" from pull_requests`,
  costs: `select c.repo_id as "repoId", c.issue_id as "issueId", c.agent, c.model, a.provider, c.amount_usd as usd,
    ${MS('c.created_at')} as at
    from cost_events c join agent_invocations a on a.run_id = c.run_id and a.invocation_index = c.invocation_index`,
  invocations: `select r.repo_id as "repoId", r.issue_id as "issueId", r.agent, a.model, a.provider, a.stop_reason as stop,
    a.cost_usd is not null as "isReported", a.cost_usd as usd, a.run_id as "runId", a.invocation_index as index,
    a.agent as program,
    a.turns, ${MS('a.created_at')} as at, ${MS('r.claimed_at')} as "claimedAt",
    array[input_tokens, output_tokens, cache_read_tokens, cache_write_tokens] as tokens
    from agent_invocations a join runs r on r.id = a.run_id`,
  runs: `select id, repo_id as "repoId", issue_id as "issueId", task_type as "taskType", agent, worker_id as "workerId",
    work_id as "workId", attempt, status, outcome, compared_agent as "comparedAgent", ${MS('claimed_at')} as at, ${MS('finished_at')} as "endedAt",
    ${MS('lease_expires_at')} as "leaseUntil", error_message as error, error_fingerprint as fingerprint
    from runs order by id`,
  tasks: `select id, repo_id as "repoId", issue_id as "issueId", issue_number as issue, task_type as type, status, held,
    work_id as "workId", attempt, priority, claimed_by as "claimedBy", ${MS('claimed_at')} as "claimedAt", ${MS('created_at')} as at,
    ${MS('lease_expires_at')} as "leaseUntil", ${MS('progress_at')} as "progressAt" from tasks`,
  writes: `select id, repo_id as "repoId", issue_number as issue, lane, status, error, ${MS('created_at')} as at
    from projections order by id`,
  deadLetters: `select id, repo_id as "repoId", issue_id as "issueId", issue_number as issue, from_state as "from",
    target_state as "to", agent_name as agent, error, ${MS('created_at')} as at, resolved_at is not null as "isResolved"
    from dead_letters`,
  retrospectives: `select repo_id as "repoId", array(select jsonb_array_elements_text(planned_files -> 'files')) as planned,
    array(select jsonb_array_elements_text(actual_files -> 'files')) as actual, planned_files is null as "noPlan",
    actual_files is null as "noActual", outcome_classification as outcome, ${MS('created_at')} as at from retrospectives`,
  checks: `select repo_id as "repoId", sha from commit_checks`,
  workerPeriods: `select tenant_id as "tenantId", worker_id as "workerId", kind, ${MS('started_at')} as "from",
    ${MS('ended_at')} as "to" from worker_periods`,
};

/** Reads all of it; at the size of the full history that takes some GB of memory. */
export async function readRows(db: Db): Promise<Rows> {
  const all: Partial<Record<keyof Rows, unknown[]>> = {};
  for (const [name, query] of Object.entries(QUERIES)) {
    all[name as keyof Rows] = (await sql.raw(query).execute(db)).rows;
  }
  const rows = all as unknown as Rows;
  for (const look of rows.retrospectives as (Rows['retrospectives'][number] & {
    noPlan: boolean;
    noActual: boolean;
  })[]) {
    if (look.noPlan) look.planned = null;
    if (look.noActual) look.actual = null;
  }
  return rows;
}

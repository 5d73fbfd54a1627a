import { type RawBuilder, sql } from 'kysely';

/** The issues of a batch: tenants, and the first and the last id. */
export interface Batch {
  tenantIds: readonly number[];
  first: number;
  last: number;
}

const within = (alias: string, { tenantIds, first, last }: Batch): RawBuilder<unknown> => sql`
  ${sql.ref(`${alias}.tenant_id`)} = any(${tenantIds}) and ${sql.ref(`${alias}.issue_id`)} between ${first} and ${last}`;

/** Lists the statements that insert what the engine writes in the transaction of each move, run and model call. */
export const derivedOf = (batch: Batch): RawBuilder<unknown>[] => [
  eventsOfMoves(batch),
  storyOfMoves(batch),
  labelsOfMoves(batch),
  enqueued(batch),
  claimed(batch),
  ended(batch),
  costs(batch),
  attempts(batch),
  letterStories(batch),
  otherWrites(batch),
  failedWrites(batch),
  artefacts(batch),
  messages(batch),
];

const eventsOfMoves = (batch: Batch) => sql`
  insert into pipeline_events (tenant_id, created_at, repo_id, issue_id, issue_number, event_type, agent, payload)
  select t.tenant_id, t.at, t.repo_id, t.issue_id, i.issue_number, 'state_transition', coalesce(t.agent, t.actor_type),
    jsonb_build_object('from', t.from_state, 'to', t.to_state)
  from transitions t join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
  where ${within('t', batch)}`;

const storyOfMoves = (batch: Batch) => sql`
  insert into issue_events (tenant_id, created_at, issue_id, actor_type, actor_id, status, details, state)
  select t.tenant_id, t.at, t.issue_id, t.actor_type, coalesce(t.actor_id, t.agent), 'moved to ' || t.to_state,
    jsonb_build_object('from', t.from_state, 'to', t.to_state, 'trigger', t.trigger), t.to_state
  from transitions t where ${within('t', batch)}`;

/** The newest moves are not on the host yet, a few failed, a few were discarded. */
const labelsOfMoves = (batch: Batch) => sql`
  insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, status, attempts, max_attempts,
    client_type, error, idempotency_key, created_at, updated_at)
  select t.tenant_id, t.repo_id, t.issue_id, i.issue_number, 'labels',
    jsonb_build_object('type', 'swapLabels', 'add', jsonb_build_array('svc:' || t.to_state),
      'remove', case when t.from_state = 'new' then '[]'::jsonb else jsonb_build_array('svc:' || t.from_state) end),
    s.status, case s.status when 'pending' then 0 when 'failed' then 8 else 1 end, 8, 'sandbox',
    case s.status when 'failed' then '422: Validation Failed' end, 'history-' || t.id, t.at, t.at + interval '2 s'
  from transitions t
  join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
  cross join lateral (select case when t.id % 97 = 0 and t.at = i.state_entered_at then 'pending'
    when t.id % 211 = 0 and t.at = i.state_entered_at then 'failed'
    when t.id % 503 = 0 then 'discarded' else 'complete' end as status) s
  where t.to_state <> 'new' and ${within('t', batch)}`;

const taskEvent = (
  type: string,
  at: RawBuilder<unknown>,
  facts: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
) => sql`
  insert into pipeline_events (tenant_id, created_at, repo_id, issue_id, issue_number, event_type, agent, payload)
  select r.tenant_id, ${at}, r.repo_id, r.issue_id, r.issue_number, ${type}, r.agent,
    jsonb_build_object('taskId', r.task_id, 'taskType', r.task_type, 'attempt', r.attempt, ${facts})
  from runs r where ${where}`;

const UNKNOWN = sql`'workerId', null, 'error', null`;
const WORKER = sql`'workerId', r.worker_id, 'error', r.error_message`;

/** One for each task, not for each of its claims; tasks that were never claimed have no run. */
const enqueued = (batch: Batch) => sql`
  insert into pipeline_events (tenant_id, created_at, repo_id, issue_id, issue_number, event_type, agent, payload)
  select r.tenant_id, r.at, r.repo_id, r.issue_id, r.issue_number, 'task_enqueued', r.agent,
    jsonb_build_object('taskId', r.task_id, 'taskType', r.task_type, 'attempt', r.attempt, ${UNKNOWN})
  from (
    select r.tenant_id, r.repo_id, r.issue_id, r.issue_number, r.task_id, r.task_type, r.agent, min(r.attempt) as attempt,
      min(r.claimed_at) - interval '3 min' as at
    from runs r where ${within('r', batch)} group by 1, 2, 3, 4, 5, 6, 7
  ) r`;

const claimed = (batch: Batch) => taskEvent('task_claimed', sql`r.claimed_at`, UNKNOWN, within('r', batch));

const ENDED = { finished: 'task_completed', failed: 'task_failed', lost: 'task_reclaimed' };

const ended = (batch: Batch) => sql`
  insert into pipeline_events (tenant_id, created_at, repo_id, issue_id, issue_number, event_type, agent, payload)
  select r.tenant_id, r.finished_at, r.repo_id, r.issue_id, r.issue_number, ${JSON.stringify(ENDED)}::jsonb ->> r.status,
    r.agent, jsonb_build_object('taskId', r.task_id, 'taskType', r.task_type, 'attempt', r.attempt, ${WORKER})
  from runs r where r.finished_at is not null and r.status <> 'cancelled' and ${within('r', batch)}`;

/** A call that reported its cost while it ran is booked in two parts. */
const costs = (batch: Batch) => sql`
  insert into cost_events (tenant_id, created_at, repo_id, issue_id, run_id, invocation_index, agent, model, amount_usd)
  select r.tenant_id, part.at, r.repo_id, r.issue_id, r.id, c.invocation_index, r.agent, c.model, part.usd
  from runs r
  join agent_invocations c on c.tenant_id = r.tenant_id and c.run_id = r.id
  cross join lateral (select c.created_at < r.finished_at as early, round(c.cost_usd * 0.4, 6) as first) s
  cross join lateral (
    select c.created_at as at, case when s.early then s.first else c.cost_usd end as usd
    union all
    select r.finished_at, c.cost_usd - s.first where s.early
  ) part
  where part.usd > 0 and ${within('r', batch)}`;

const attempts = (batch: Batch) => sql`
  insert into projection_attempts (tenant_id, projection_id, started_at, finished_at, outcome, error)
  select p.tenant_id, p.id, p.created_at, p.updated_at, case p.status when 'failed' then 'refused' else 'ok' end, p.error
  from projections p where p.attempts > 0 and ${within('p', batch)}`;

/** Inserts the entries about a pause into the history of the issue. */
const letterStories = (batch: Batch) => sql`
  insert into issue_events (tenant_id, created_at, issue_id, actor_type, actor_id, status, details, state)
  select e.tenant_id, e.created_at, e.issue_id, 'operator', 'olga',
    case e.event_type when 'issue_paused' then 'pause by operator' else 'resume by operator' end, null, i.state
  from pipeline_events e join issues i on i.tenant_id = e.tenant_id and i.id = e.issue_id
  where e.event_type in ('issue_paused', 'issue_resumed') and ${within('e', batch)}`;

/** Host writes beside labels: the pull request, the end of the issue, and why it stands still. */
const otherWrites = (batch: Batch) => sql`
  insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, status, attempts, max_attempts,
    client_type, idempotency_key, created_at, updated_at)
  select e.tenant_id, e.repo_id, e.issue_id, e.issue_number, w.lane, jsonb_build_object('type', w.type), 'complete', 1, 8,
    'sandbox', 'history-' || w.type || '-' || e.id, e.created_at, e.created_at + interval '2 s'
  from pipeline_events e
  join (values ('pr_opened', 'pr', 'createPR'), ('pr_merged', 'issue', 'closeIssue'), ('issue_blocked', 'talk', 'postComment'))
    w (event, lane, type) on w.event = e.event_type
  where ${within('e', batch)}`;

const failedWrites = (batch: Batch) => sql`
  insert into pipeline_events (tenant_id, created_at, repo_id, issue_id, issue_number, event_type, agent, payload)
  select p.tenant_id, p.updated_at, p.repo_id, p.issue_id, p.issue_number, 'projection_failed', 'workflow-engine',
    jsonb_build_object('projectionId', p.id)
  from projections p where p.status = 'failed' and ${within('p', batch)}`;

/** Inserts the artefacts of some runs. */
const artefacts = (batch: Batch) => sql`
  insert into artefacts (tenant_id, run_id, issue_id, kind, media_type, title, body, created_at)
  select r.tenant_id, r.id, r.issue_id, 'log', 'text/plain', 'Log of run ' || r.id, 'All of it.', r.finished_at
  from runs r where r.id % 10 = 0 and r.finished_at is not null and ${within('r', batch)}`;

/** Inserts the messages of agents in some runs. */
const messages = (batch: Batch) => sql`
  insert into agent_messages (tenant_id, task_created_at, task_id, invocation_index, sequence, issue_id, agent, role, subtype,
    tool_name, content, truncated, created_at)
  select r.tenant_id, r.claimed_at, r.task_id, 0, s.n, r.issue_id, r.agent, 'assistant', s.subtype, s.tool, 'number ' || s.n,
    false, r.claimed_at + make_interval(secs => s.n)
  from runs r
  cross join (values (0, 'thinking', null), (1, 'text', null), (2, 'tool_use', 'bash'), (3, 'tool_result', 'bash'))
    s (n, subtype, tool)
  where r.id % 20 = 0 and r.attempt = 0 and ${within('r', batch)}`;

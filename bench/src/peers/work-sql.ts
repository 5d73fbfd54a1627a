/**
 * A claim of a task and the report of its outcome as an expert writes them by hand, over the tables of the service: a
 * transaction of one statement for each table, with the same rows and indexes. What the service checks beyond its rows
 * (rights, validation, a repeated report, budgets) is left out.
 */
const claim = (tenantId: number): string => `
begin;
update tasks set status = 'claimed', claimed_by = 'hand-' || :client_id::text, claimed_at = now(), progress_at = now(),
  run_id = nextval('run_id_seq'), lease_expires_at = now() + interval '10 minutes'
where tenant_id = ${tenantId} and id = (
  select id from tasks
  where tenant_id = ${tenantId} and task_type = 'analyze' and compared_agent = '' and status = 'pending' and held is null
  order by priority, turn, id limit 1 for update skip locked)
returning id as task, repo_id as repo, issue_id as issue, issue_number as number, run_id as run \\gset
insert into runs (tenant_id, id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent, worker_id,
  claim_token_hash, claimed_at, lease_expires_at)
values (${tenantId}, :run::bigint, :task::uuid, :task::uuid, :repo::bigint, :issue::bigint, :number::int, 'analyze', 0,
  'analyzer', 'hand-' || :client_id::text, 'hand-' || :run::text, now(), now() + interval '10 minutes');
insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
values (${tenantId}, :repo::bigint, :issue::bigint, :number::int, 'task_claimed', 'analyzer', jsonb_build_object(
  'taskId', :task::text, 'taskType', 'analyze', 'attempt', 0, 'workerId', 'hand-' || :client_id::text, 'error', null));
select i.title, i.body, i.url, i.labels, i.author, i.plan, i.planned_files, r.owner, r.name, r.clone_url, r.default_branch,
  r.setup_command
from issues i join repos r on r.tenant_id = i.tenant_id and r.id = i.repo_id
where i.tenant_id = ${tenantId} and i.id = :issue::bigint for update of i;
update workers set status = 'analyzing', last_heartbeat_at = now()
where tenant_id = ${tenantId} and id = 'hand-' || :client_id::text;
insert into stream_outbox (tenant_id, event_type, data)
values (${tenantId}, 'worker-status', jsonb_build_object('workerId', 'hand-' || :client_id::text, 'repo', 'bench/repo',
  'status', 'analyzing', 'issueNumber', :number::int, 'taskType', 'analyze'));
update issue_list set written_at = now(),
  body = (body::jsonb || '{"activeTaskType": "analyze", "assignedAgent": "analyzer"}')::text
where tenant_id = ${tenantId} and repo_id = :repo::bigint and issue_number = :number::int;
insert into issue_count_deltas (tenant_id, repo_id, state, is_paused, is_blocked, n)
values (${tenantId}, :repo::bigint, 'analyzing', false, false, 0);
commit;
`;

const STATUS_COMMENT = `'**Waiting for an agent to plan the work** · since 2026-11-25' || repeat(' → Planning', 20)`;

/** @param claimed finds the run. */
const report = (tenantId: number, claimed: string): string => `
begin;
select r.id as run, r.task_id as task, r.repo_id as repo, r.issue_id as issue, r.issue_number as number,
  r.worker_id as worker
from runs r join issues i on i.tenant_id = r.tenant_id and i.id = r.issue_id
where r.tenant_id = ${tenantId} and r.claim_token_hash = ${claimed} and r.status = 'claimed' for update of i, r \\gset
select r.*, pr.*, (
    select body from workflow_snapshots w where w.tenant_id = ${tenantId} and w.repo_id = r.id and w.active) as workflow,
  (select count(*) from findings f where f.tenant_id = ${tenantId} and f.issue_id = :issue::bigint and f.blocks_progress
    and f.status in ('open', 'accepted')) as blockers,
  (select count(*) from issue_edges e where e.tenant_id = ${tenantId} and e.kind = 'depends_on' and e.active
    and e.child_repo_id = r.id and e.child_issue_number = :number::int) as dependencies
from repos r
left join pull_requests pr on pr.tenant_id = ${tenantId} and pr.issue_id = :issue::bigint and pr.state = 'open'
where r.tenant_id = ${tenantId} and r.id = :repo::bigint;
delete from tasks where tenant_id = ${tenantId} and id = :task::uuid;
insert into tasks (tenant_id, id, work_id, repo_id, issue_id, issue_number, task_type, priority, turn, max_attempts)
select ${tenantId}, id, id, :repo::bigint, :issue::bigint, :number::int, 'plan', 40, greatest(
    coalesce((select t.turn from tasks t where t.tenant_id = ${tenantId} and t.task_type = 'plan' and t.priority = 40
      and t.status = 'pending' order by t.turn limit 1), 0),
    coalesce((select t.turn from tasks t where t.tenant_id = ${tenantId} and t.repo_id = :repo::bigint
      and t.task_type = 'plan' and t.priority = 40 and t.status = 'pending' order by t.turn desc limit 1), 0)) + 1, 3
from gen_random_uuid() as id;
update issues set state = 'planning', labels = '{svc-planning}', state_entered_at = now(), last_event_at = now(),
  updated_at = now(), reached_states = reached_states | 4, status_comment_body = ${STATUS_COMMENT}
where tenant_id = ${tenantId} and id = :issue::bigint;
update runs set status = 'finished', outcome = 'analyzed', finished_at = now(), report_hash = repeat('0', 64),
  report_answer = '{"ok": true, "state": "planning", "attempt": 0, "requeued": false}'
where tenant_id = ${tenantId} and id = :run::bigint;
insert into projections (tenant_id, repo_id, issue_id, issue_number, lane, action, max_attempts, client_type,
  idempotency_key)
values (${tenantId}, :repo::bigint, :issue::bigint, :number::int, 'labels',
    '{"type": "swapLabels", "add": ["svc-planning"], "remove": ["svc-analyzing"]}', 8, 'sandbox', gen_random_uuid()::text),
  (${tenantId}, :repo::bigint, :issue::bigint, :number::int, 'talk', jsonb_build_object(
    'type', 'updateComment', 'marker', 'status', 'body', ${STATUS_COMMENT}), 8, 'sandbox', gen_random_uuid()::text);
insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, "trigger", forced, agent, actor_type,
  actor_id, duration_in_from_ms, admitted_at, is_first)
values (${tenantId}, :repo::bigint, :issue::bigint, 'analyzing', 'planning', 'analyzed', false, 'analyzer', 'agent',
  :worker::text, 24974, '2026-11-25', true);
insert into issue_events (tenant_id, issue_id, actor_type, actor_id, status, details, state)
values (${tenantId}, :issue::bigint, 'agent', :worker::text, 'moved to planning',
  '{"to": "planning", "from": "analyzing", "trigger": "analyzed"}', 'planning');
insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
values (${tenantId}, :repo::bigint, :issue::bigint, :number::int, 'task_completed', 'analyzer', jsonb_build_object(
    'taskId', :task::text, 'taskType', 'analyze', 'attempt', 0, 'workerId', :worker::text, 'error', null)),
  (${tenantId}, :repo::bigint, :issue::bigint, :number::int, 'state_transition', 'analyzer',
    '{"to": "planning", "from": "analyzing"}'),
  (${tenantId}, :repo::bigint, :issue::bigint, :number::int, 'task_enqueued', 'planner', jsonb_build_object(
    'taskId', :task::text, 'taskType', 'plan', 'attempt', 0, 'workerId', null, 'error', null));
insert into stream_outbox (tenant_id, event_type, data)
values (${tenantId}, 'state-transition', jsonb_build_object('repo', 'bench/repo', 'issueNumber', :number::int, 'from',
    'analyzing', 'to', 'planning', 'trigger', 'analyzed')),
  (${tenantId}, 'worker-status', jsonb_build_object('workerId', :worker::text, 'repo', null, 'status', 'idle',
    'issueNumber', null, 'taskType', null));
update issue_list set state = 'planning', state_entered_at = now(), written_at = now(),
  body = (body::jsonb || jsonb_build_object('state', 'planning', 'labels', '{svc-planning}'::text[], 'stateEnteredAt',
    now(), 'updatedAt', now(), 'activeTaskType', 'plan', 'assignedAgent', null))::text
where tenant_id = ${tenantId} and repo_id = :repo::bigint and issue_number = :number::int;
insert into issue_count_deltas (tenant_id, repo_id, state, is_paused, is_blocked, n)
values (${tenantId}, :repo::bigint, 'planning', false, false, 1),
  (${tenantId}, :repo::bigint, 'analyzing', false, false, -1);
update workers set status = 'idle', last_heartbeat_at = now() where tenant_id = ${tenantId} and id = :worker::text;
commit;
`;

/** Scripts of pgbench, for clients that work as the workers `hand-0`, `hand-1` and so on. */
export const claimScript = claim;

export const claimAndReportScript = (tenantId: number): string =>
  `${claim(tenantId)}${report(tenantId, `'hand-' || :run::text`)}`;

/** Reports claims whose token hashes are the prefix and a number from 0 on; each client has as many of them. */
export const reportScript = (tenantId: number, prefix: string, perClient: number): string =>
  `\\set n :client_id * ${perClient} + :done\n\\set done :done + 1\n${report(tenantId, `'${prefix}' || :n::text`)}`;

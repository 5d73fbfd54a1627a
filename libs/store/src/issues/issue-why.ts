import {
  ANY_AGENT,
  type CheckState,
  type ErrorClass,
  type Rounds,
  type State,
  type TaskType,
  type TracedIssue,
  type WhyFacts,
  type WhyTask,
} from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { type Reach, type ReadScope, reachableRepo, reachOf } from '../accounts/org-scope.ts';
import type { Db } from '../driver/database.ts';
import { jsonList, wireTime } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { isWithoutWorker } from '../queue/tasks-without-worker.ts';

/** A transition of an issue in the form of the API. */
export interface StateTransition {
  from: State | null;
  to: State;
  at: string;
  agent: string | null;
  actorType: 'agent' | 'workflow-engine' | 'operator' | 'system';
  actorId: string | null;
  reason: string | null;
  forced: boolean;
  /** Milliseconds in the state that it left. */
  durationInFromMs: number | null;
}

/** A check run or commit status of the head of a pull request. */
export interface HeadCheck {
  name: string;
  state: CheckState;
  conclusion: string | null;
  url: string | null;
}

interface LastError {
  message: string;
  agentName: string | null;
  fingerprint: string | null;
  occurredAt: string;
}

type OfIssue = Omit<WhyFacts, 'repo' | 'task' | 'lastTrigger'> & {
  /** Issue from which its trace id is computed. */
  traced: TracedIssue;
  title: string;
  isBlocked: boolean;
  blockClassification: ErrorClass | null;
  blockedFromState: State | null;
  lastError: LastError | null;
  /** Null = agents work on the text that the host shows. */
  textChange: { changedAt: string; changedBy: string | null; sha256: string } | null;
  /** Checks of the head of its own open pull request, by name, at most 100. */
  headChecks: HeadCheck[];
  rounds: Rounds;
  maxRounds: number;
  /** Work tasks before others. */
  tasks: WhyTask[];
  /** Newest first, at most 20; the `trigger` of the newest one caused the current state. */
  transitions: (StateTransition & { trigger: string })[];
};

export interface WhyRow {
  repo: string;
  /** Null for an issue that the pipeline has no record of. */
  issue: OfIssue | null;
  now: string;
}

/** The tenant as a parameter. Every level of the statement names it, so that it runs on one shard. */
type Tenant = RawBuilder<number>;

const MAX_TRANSITIONS = 20;
const MAX_CHECKS = 100;
/** Edges on which issue `i` waits, or that wait for it, named by the other end; `#N` within the repo. */
const openEdges = (tenant: Tenant, kind: 'depends_on' | 'subtask', own: 'child' | 'parent'): RawBuilder<unknown> => {
  const other = own === 'child' ? 'parent' : 'child';
  const column = (end: string, name: string) => sql.ref(`e.${end}_${name}`);
  return jsonList(sql`
    select case when ${column(other, 'repo_id')} = i.repo_id then '' else
        (select r.owner || '/' || r.name from repos r where r.tenant_id = ${tenant} and r.id = ${column(other, 'repo_id')})
      end || '#' || ${column(other, 'issue_number')} as ref, ${wireTime('e.created_at')} as since
    from issue_edges e
    where e.tenant_id = ${tenant} and e.kind = ${sql.lit(kind)} and e.active
      and ${column(own, 'repo_id')} = i.repo_id and ${column(own, 'issue_number')} = i.issue_number
    order by e.id`);
};

const listsOf = (tenant: Tenant) => ({
  tasks: jsonList(sql`
    select t.task_type as type, t.status, t.held, ${wireTime('t.run_after')} as "runAfter", t.attempt,
      t.max_attempts as "maxAttempts", t.claimed_by as "claimedBy", ${wireTime('t.claimed_at')} as "claimedAt",
      ${wireTime('t.created_at')} as "createdAt", nullif(t.compared_agent, ${sql.lit(ANY_AGENT)}) as agent,
      ${isWithoutWorker(tenant)} as "isWithoutWorker"
    from tasks t where t.tenant_id = ${tenant} and t.issue_id = i.id order by t.priority, t.id`),
  projections: jsonList(sql`
    select p.id, p.action ->> 'type' as type, p.status, p.error, ${wireTime('p.created_at')} as "createdAt"
    from projections p
    where p.tenant_id = ${tenant} and p.repo_id = i.repo_id and p.issue_number = i.issue_number
      and p.status in ('pending', 'failed')
    order by p.id`),
  deadLetters: jsonList(sql`
    select d.id, d.target_state as "targetState", d.error, ${wireTime('d.created_at')} as "createdAt"
    from dead_letters d where d.tenant_id = ${tenant} and d.issue_id = i.id and d.resolved_at is null
    order by d.created_at, d.id`),
  blockers: jsonList(sql`
    select f.id, f.title, ${wireTime('f.created_at')} as "createdAt"
    from findings f
    where f.tenant_id = ${tenant} and f.issue_id = i.id and f.blocks_progress and f.status in ('open', 'accepted')
    order by f.created_at, f.id`),
  headChecks: jsonList(
    sql`
    select c.name, c.state, c.conclusion, c.url
    from pull_requests h join commit_checks c
      on c.tenant_id = ${tenant} and c.repo_id = h.repo_id and c.sha = h.head_sha
    where h.tenant_id = ${tenant} and h.issue_id = i.id and h.state = 'open' and h.agent_authored
    order by c.name, c.kind`,
    MAX_CHECKS,
  ),
  transitions: jsonList(
    sql`
    select m.from_state as "from", m.to_state as "to", ${wireTime('m.at')} as at, m.agent, m.actor_type as "actorType",
      m.actor_id as "actorId", m.reason, m.forced, m.duration_in_from_ms as "durationInFromMs", m.trigger
    from transitions m where m.tenant_id = ${tenant} and m.issue_id = i.id order by m.id desc`,
    MAX_TRANSITIONS,
  ),
});

const repoUnavailable = (tenant: Tenant) => sql`(
  select row_to_json(q) from (
    select r.unavailable as reason, ${wireTime('r.unavailable_since')} as since
    from repos r where r.tenant_id = ${tenant} and r.id = i.repo_id and r.unavailable is not null
  ) q)`;

/** Error of the newest failed run, even if an earlier run succeeded. */
const lastError = (tenant: Tenant) => sql`(
  select row_to_json(q) from (
    select r.error_message as message, r.agent as "agentName", r.error_fingerprint as fingerprint,
      ${wireTime('coalesce_at.at')} as "occurredAt"
    from runs r
    cross join lateral (select coalesce(r.finished_at, r.claimed_at) as at) coalesce_at
    where r.tenant_id = ${tenant} and r.issue_id = i.id and r.error_message is not null
    order by r.id desc limit 1
  ) q)`;

const textChange = (tenant: Tenant) => sql`(
  select row_to_json(q) from (
    select ${wireTime('c.changed_at')} as "changedAt", c.changed_by as "changedBy", c.changed_sha256 as "sha256"
    from issue_host_facts c
    where c.tenant_id = ${tenant} and c.issue_id = i.id and c.changed_sha256 is not null
  ) q)`;

/** Wait for checks of the head with which the merge waits; a wait for an earlier head is over. */
const checksWait = (tenant: Tenant) => sql`(
  select row_to_json(q) from (
    select w.checks_wait ->> 'verdict' as verdict, w.checks_wait -> 'waitsFor' as "waitsFor",
      ${wireTime('w.checks_wait_since')} as since
    from pull_requests w
    where w.tenant_id = ${tenant} and w.issue_id = i.id and w.state = 'open' and w.agent_authored
      and w.checks_wait ->> 'sha' = w.head_sha
    order by w.number desc limit 1
  ) q)`;

const issueJson = (tenant: Tenant, lists = listsOf(tenant)) => sql`
  select row_to_json(f) as issue from (select
    i.issue_number as "issueNumber", json_build_object('tenantId', i.tenant_id, 'issueId', i.id,
      'createdAt', ${wireTime('i.created_at')}) as traced, i.title, i.state, ${wireTime('i.state_entered_at')} as "stateEnteredAt",
    i.is_paused as "isPaused", ${wireTime('i.paused_at')} as "pausedAt", i.is_blocked as "isBlocked",
    i.block_reason as "blockReason", i.block_classification as "blockClassification",
    i.blocked_from_state as "blockedFromState", i.question, i.rounds,
    (select r.max_rounds from repos r where r.tenant_id = ${tenant} and r.id = i.repo_id) as "maxRounds",
    case when i.plan_status = 'pending' then i.plan_version end as "pendingPlan", ${wireTime('i.auto_unblock_at')} as "autoUnblockAt",
    (select p.number from pull_requests p where p.tenant_id = ${tenant} and p.issue_id = i.id and p.state = 'open'
      and p.agent_authored
      order by p.number desc limit 1) as "prNumber",
    ${checksWait(tenant)} as checks, ${repoUnavailable(tenant)} as "repoUnavailable",
    ${openEdges(tenant, 'depends_on', 'child')} as dependencies, ${openEdges(tenant, 'subtask', 'parent')} as subtasks,
    ${lists.tasks} as tasks, ${lists.projections} as projections, ${lists.deadLetters} as "deadLetters",
    ${lists.headChecks} as "headChecks", ${lists.blockers} as blockers, ${lists.transitions} as transitions, ${lastError(tenant)} as "lastError", ${textChange(tenant)} as "textChange"
  ) f`;

const why = prepared(
  'why-of-issue',
  (_db, p: Params<Reach & { number: number }>) => sql<WhyRow>`
    with repo as (${reachableRepo(p)})
    select repo.owner || '/' || repo.name as repo, svc_now() as now, found.issue
    from repo
    left join lateral (
      select of_issue.issue from issues i cross join lateral (${issueJson(p('tenantId'))}) of_issue
      where i.tenant_id = ${p('tenantId')} and i.repo_id = repo.id and i.issue_number = ${p('number')}
    ) found on true`,
);

/**
 * All data that explains the state of an issue: one statement, a dozen index probes whatever the history.
 * @returns undefined for a repo out of scope.
 */
export const issueWhy = (read: Db, scope: ReadScope, slug: string, number: number): Promise<WhyRow | undefined> =>
  why.first(read, { ...reachOf(scope, slug), number });

export type ActiveTask = { taskType: TaskType; status: 'pending' | 'claimed'; claimedBy: string | null };

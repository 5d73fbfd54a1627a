import type { HostIssue, PlanStatus } from '@pipeline/domain';
import { type Insertable, type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared, preparedPatch } from '../driver/prepared.ts';
import { factsOfAdmitted } from '../intake/host-facts.ts';

/** A locked issue: its row, the transaction's time by the store's clock, and its time in state until then. */
export type IssueRow = Selectable<DB['issues']> & { now: string; ms_in_state: number };

interface IssueNumberKey {
  tenantId: number;
  repoId: number;
  number: number;
}

const now = svcNow.as('now');
const msInState = sql<number>`(extract(epoch from (svc_now() - state_entered_at)) * 1000)::bigint`.as('ms_in_state');
/** What a locked issue has beside its columns. */
export const AT_LOCK = [now, msInState] as const;

const locked = prepared('lock-issue', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db
    .selectFrom('issues')
    .select(COLUMNS.issues)
    .select(AT_LOCK)
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('issueId'))
    .forUpdate(),
);

/**
 * Locks the row of an issue until the transaction ends. It is the first lock of every use case, so changes of one issue
 * are serialised and no two can deadlock.
 */
export const lockIssue = (tx: Tx, tenantId: number, issueId: number): Promise<IssueRow | undefined> =>
  locked.first(tx, { tenantId, issueId });

const lockedMany = prepared('lock-issues', (db, p: Params<{ tenantId: number; issueIds: readonly number[] }>) =>
  db
    .selectFrom('issues')
    .select(COLUMNS.issues)
    .select(AT_LOCK)
    .where('tenant_id', '=', p('tenantId'))
    // For any number of issues: the planner does not see the list, so it keeps its plan.
    .where('id', 'in', sql<number>`(select unnest((select ${p('issueIds')}::bigint[])))`)
    .orderBy('id')
    .forUpdate(),
);

/** Locks the rows of issues in id order, so that transactions that lock several cannot deadlock. */
export const lockIssues = (tx: Tx, tenantId: number, issueIds: readonly number[]): Promise<IssueRow[]> =>
  lockedMany.all(tx, { tenantId, issueIds });

const lockedByNumber = prepared('lock-issue-by-number', (db, p: Params<IssueNumberKey>) =>
  db
    .selectFrom('issues')
    .select(COLUMNS.issues)
    .select(AT_LOCK)
    .where('tenant_id', '=', p('tenantId'))
    .where('repo_id', '=', p('repoId'))
    .where('issue_number', '=', p('number'))
    .forUpdate(),
);

export const lockIssueByNumber = (
  tx: Tx,
  tenantId: number,
  repoId: number,
  number: number,
): Promise<IssueRow | undefined> => lockedByNumber.first(tx, { tenantId, repoId, number });

const byNumber = prepared('issue-by-number', (db, p: Params<IssueNumberKey>) =>
  db
    .selectFrom('issues')
    .select(COLUMNS.issues)
    .where('tenant_id', '=', p('tenantId'))
    .where('repo_id', '=', p('repoId'))
    .where('issue_number', '=', p('number')),
);

export const findIssue = (
  db: Db,
  tenantId: number,
  repoId: number,
  number: number,
): Promise<Selectable<DB['issues']> | undefined> => byNumber.first(db, { tenantId, repoId, number });

export type NewIssue = Pick<
  HostIssue,
  'number' | 'title' | 'body' | 'url' | 'labels' | 'author' | 'createdAt' | 'updatedAt'
> & {
  /** The login that enqueued its text; null = the pipeline itself, or unknown. */
  acceptedBy?: string | null;
  /** Login of the assignee (a person); absent = not reported. */
  assignee?: string | null;
};

/** Inserts an issue in state `new` with its host facts: one statement. @returns false when it already existed. */
export async function insertIssue(tx: Tx, tenantId: number, repoId: number, issue: NewIssue): Promise<boolean> {
  const row: Insertable<DB['issues']> = {
    tenant_id: tenantId,
    repo_id: repoId,
    issue_number: issue.number,
    title: issue.title,
    body: issue.body,
    url: issue.url,
    author: issue.author,
    labels: issue.labels,
    state: 'new',
    host_created_at: issue.createdAt,
    host_updated_at: issue.updatedAt,
  };
  const made = tx
    .insertInto('issues')
    .values(row)
    .onConflict((c) => c.columns(['tenant_id', 'repo_id', 'issue_number']).doNothing())
    .returning('id');
  const facts = Object.entries(factsOfAdmitted(issue));
  const columns = sql.join(facts.map(([column]) => sql.ref(column)));
  const { numAffectedRows = 0n } = await sql`
    with made as (${made})
    insert into issue_host_facts (tenant_id, issue_id, seen_at, ${columns})
    select ${tenantId}, made.id, svc_now(), ${sql.join(facts.map(([, value]) => value))} from made`.execute(tx);
  return numAffectedRows > 0n;
}

/** Changes columns of an issue whose row the caller has locked. */
export async function updateIssue(tx: Tx, tenantId: number, issueId: number, change: Change<'issues'>): Promise<void> {
  await tx
    .updateTable('issues')
    .set({ ...change, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', issueId)
    .execute();
}

type HostView = Pick<
  Selectable<DB['issues']>,
  'url' | 'host_updated_at' | 'labels' | 'text_changed_at' | 'text_changed_by'
>;

const followed = preparedPatch('follow-host', 'issues', (p: Params<HostView>) => ({
  url: p('url'),
  host_updated_at: p('host_updated_at'),
  labels: p('labels'),
  text_changed_at: p('text_changed_at'),
  text_changed_by: p('text_changed_by'),
  updated_at: svcNow,
}));

/** Records what the host shows of a locked issue, beside its text. */
export const followHost = (tx: Tx, issue: { tenant_id: number; id: number }, view: HostView): Promise<void> =>
  followed.run(tx, { ...view, tenantId: issue.tenant_id, id: issue.id });

const text = preparedPatch('set-text', 'issues', (p: Params<{ title: string; body: string }>) => ({
  title: p('title'),
  body: p('body'),
  updated_at: svcNow,
}));

/** Replaces the text of a locked issue. */
export const setText = (
  tx: Tx,
  issue: { tenant_id: number; id: number },
  { title, body }: { title: string; body: string },
): Promise<void> => text.run(tx, { title, body, tenantId: issue.tenant_id, id: issue.id });

/** Columns that change with a new state. */
type EnteredState = Pick<
  Selectable<DB['issues']>,
  | 'state'
  | 'is_blocked'
  | 'block_reason'
  | 'block_classification'
  | 'blocked_from_state'
  | 'question'
  | 'last_error'
  | 'error_fingerprint'
  | 'is_paused'
  | 'quota_waited_ms'
  | 'reached_states'
>;

const enter = preparedPatch('enter-state', 'issues', (p: Params<EnteredState & { autoUnblockIn: string | null }>) => ({
  state: p('state'),
  is_blocked: p('is_blocked'),
  block_reason: p('block_reason'),
  block_classification: p('block_classification'),
  blocked_from_state: p('blocked_from_state'),
  question: p('question'),
  last_error: p('last_error'),
  error_fingerprint: p('error_fingerprint'),
  is_paused: p('is_paused'),
  quota_waited_ms: p('quota_waited_ms'),
  reached_states: p('reached_states'),
  state_entered_at: svcNow,
  last_event_at: svcNow,
  updated_at: svcNow,
  auto_unblock_at: sql`svc_now() + ${p('autoUnblockIn')}::interval`,
}));

/**
 * Moves a locked issue into a state and restarts its time in state.
 * @param autoUnblockInMs when a block is lifted automatically; null = never.
 */
export async function enterState(
  tx: Tx,
  issue: { tenant_id: number; id: number },
  change: EnteredState,
  autoUnblockInMs: number | null,
): Promise<void> {
  const autoUnblockIn = autoUnblockInMs === null ? null : `${autoUnblockInMs} ms`;
  await enter.run(tx, { ...change, tenantId: issue.tenant_id, id: issue.id, autoUnblockIn });
}

/** Columns that change when something else stops an issue that is stopped already. */
type Stop = Pick<
  Selectable<DB['issues']>,
  'block_reason' | 'block_classification' | 'last_error' | 'error_fingerprint'
>;

const stop = preparedPatch('set-stop', 'issues', (p: Params<Stop & { keepsLift: boolean }>) => ({
  block_reason: p('block_reason'),
  block_classification: p('block_classification'),
  last_error: p('last_error'),
  error_fingerprint: p('error_fingerprint'),
  auto_unblock_at: sql`case when ${p('keepsLift')}::boolean then auto_unblock_at end`,
  updated_at: svcNow,
}));

/** Replaces why a locked issue is stopped. @param keepsLift whether its block is still lifted automatically. */
export const setStop = (
  tx: Tx,
  issue: { tenant_id: number; id: number },
  change: Stop,
  keepsLift: boolean,
): Promise<void> => stop.run(tx, { ...change, tenantId: issue.tenant_id, id: issue.id, keepsLift });

interface PlanChange {
  plan: string;
  planned_files: string[];
  plan_version: number;
  plan_status: PlanStatus | null;
}

const planned = preparedPatch('set-plan', 'issues', (p: Params<PlanChange>) => ({
  plan: p('plan'),
  planned_files: p('planned_files'),
  plan_version: p('plan_version'),
  plan_status: p('plan_status'),
  updated_at: svcNow,
}));

/** Replaces the plan of a locked issue. */
export const setPlan = (tx: Tx, tenantId: number, issueId: number, change: PlanChange): Promise<void> =>
  planned.run(tx, { tenantId, id: issueId, ...change });

const planStatus = preparedPatch('set-plan-status', 'issues', (p: Params<{ status: PlanStatus }>) => ({
  plan_status: p('status'),
  updated_at: svcNow,
}));

/** Records how the pending plan of a locked issue was answered. */
export const setPlanStatus = (tx: Tx, tenantId: number, issueId: number, status: PlanStatus): Promise<void> =>
  planStatus.run(tx, { tenantId, id: issueId, status });

const submitted = preparedPatch('set-submitted-files', 'issues', (p: Params<{ files: string[] }>) => ({
  submitted_files: p('files'),
  updated_at: svcNow,
}));

/** Records the files that the newest submission for a locked issue changed. */
export const setSubmittedFiles = (tx: Tx, tenantId: number, issueId: number, files: string[]): Promise<void> =>
  submitted.run(tx, { tenantId, id: issueId, files });

const show = preparedPatch('show-issue', 'issues', (p: Params<{ labels: string[]; statusComment: string | null }>) => ({
  labels: p('labels'),
  status_comment_body: p('statusComment'),
  updated_at: svcNow,
}));

/** Records what the host shows of a locked issue once the outbox has drained. */
export async function showIssue(
  tx: Tx,
  issue: { tenant_id: number; id: number },
  shown: { labels: string[]; statusComment: string | null },
): Promise<void> {
  await show.run(tx, { tenantId: issue.tenant_id, id: issue.id, ...shown });
}

/** Blocks with an expired backoff: candidates, each is checked again under its lock (index issues_auto_unblock_due). */
export const dueAutoUnblocks = (fleet: Db, limit: number): Promise<{ tenant_id: number; id: number }[]> =>
  fleet
    .selectFrom('issues')
    .modifyFront(fleetNote('upkeep of every tenant'))
    .select(['tenant_id', 'id'])
    .where('auto_unblock_at', '<=', svcNow)
    .orderBy('auto_unblock_at')
    .limit(limit)
    .execute();

const byId = prepared('issue-by-id', (db, p: Params<{ tenantId: number; issueId: number }>) =>
  db.selectFrom('issues').select(COLUMNS.issues).where('tenant_id', '=', p('tenantId')).where('id', '=', p('issueId')),
);

export const issueById = (db: Db, tenantId: number, issueId: number): Promise<Selectable<DB['issues']> | undefined> =>
  byId.first(db, { tenantId, issueId });

/** When the host last changed the issue of a repo that has been unchanged for longest; null when the repo has none. */
export async function oldestHostUpdate(db: Db, tenantId: number, repoId: number): Promise<string | null> {
  const row = await db
    .selectFrom('issues')
    .select((eb) => eb.fn.min('host_updated_at').as('oldest'))
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .executeTakeFirst();
  return row?.oldest ?? null;
}

const paused = preparedPatch('pause-issue', 'issues', () => ({
  is_paused: sql.lit(true),
  paused_at: svcNow,
  updated_at: svcNow,
}));
const resumed = preparedPatch('resume-issue', 'issues', () => ({
  is_paused: sql.lit(false),
  paused_at: sql.lit(null),
  updated_at: svcNow,
}));

/** Pauses or resumes a locked issue. */
export const setPaused = (tx: Tx, tenantId: number, issueId: number, isPaused: boolean): Promise<void> =>
  (isPaused ? paused : resumed).run(tx, { tenantId, id: issueId });

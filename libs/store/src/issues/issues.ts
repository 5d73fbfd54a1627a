import type { HostIssue } from '@pipeline/domain';
import { type Insertable, type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { factsOfAdmitted } from '../intake/host-facts.ts';

/**
 * A locked issue: its row, the transaction's time by the store's clock, and its time in state until then. `late_us` is not 0
 * when the transaction began before the change that it waited for: so many microseconds.
 */
export type IssueRow = Selectable<DB['issues']> & { now: string; ms_in_state: number; late_us: number };

interface IssueNumberKey {
  tenantId: number;
  repoId: number;
  number: number;
}

const now = svcNow.as('now');
const msInState = sql<number>`
  greatest(0, (extract(epoch from (svc_now() - state_entered_at)) * 1000)::bigint)`.as('ms_in_state');
const lateUs = sql<number>`
  greatest(0, (extract(epoch from (state_entered_at - svc_now())) * 1000000)::bigint)`.as('late_us');
/** Values that a locked issue has beside its columns. */
export const AT_LOCK = [now, msInState, lateUs] as const;

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

/**
 * Returns when the host last changed the issue of a repo that has been unchanged for longest; null when the repo has
 * none.
 */
export async function oldestHostUpdate(db: Db, tenantId: number, repoId: number): Promise<string | null> {
  const row = await db
    .selectFrom('issues')
    .select((eb) => eb.fn.min('host_updated_at').as('oldest'))
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .executeTakeFirst();
  return row?.oldest ?? null;
}

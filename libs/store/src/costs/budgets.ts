import type { BudgetPercent } from '@pipeline/domain';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** A tenant's spending on a UTC day, and the highest threshold that was reported. */
export interface DailySpend {
  day: string;
  spent_usd: number;
  /** Repo and issue of the last cost event. */
  last_repo_id: number;
  told_percent: BudgetPercent | null;
}

const TODAY = sql<string>`(svc_now() at time zone 'UTC')::date`;

/** Spending of a transaction, by a repo that it belongs to. */
interface Spending {
  repoId: number;
  usd: number;
}

const adding = (p: Params<Spending & { tenantId: number }>) => sql`
    insert into daily_spend (tenant_id, day, spent_usd, last_repo_id)
    values (${p('tenantId')}, ${TODAY}, ${p('usd')}, ${p('repoId')})
    on conflict (tenant_id, day) do update
      set spent_usd = daily_spend.spent_usd + excluded.spent_usd, last_repo_id = excluded.last_repo_id`;

const add = prepared('add-daily-spend', (_db, p: Params<Spending & { tenantId: number }>) => adding(p));
const addAndRead = prepared(
  'add-and-read-daily-spend',
  (_db, p: Params<Spending & { tenantId: number }>) => sql<DailySpend>`
    ${adding(p)} returning day, spent_usd, last_repo_id, told_percent`,
);

/**
 * Adds spending to the tenant's day. All cost events of a tenant update this row, so it is written last in its
 * transaction: one upsert by primary key, and the row is locked only for the commit.
 */
export const addDailySpend = (tx: Tx, tenantId: number, spending: Spending): Promise<void> =>
  add.run(tx, { tenantId, ...spending });

/** The same for a day with a limit, whose consequences follow. @returns the day after the update. */
export async function addToLimitedDay(tx: Tx, tenantId: number, { repoId, usd }: Spending): Promise<DailySpend> {
  const [day] = await addAndRead.all(tx, { tenantId, repoId, usd });
  if (!day) throw new Error(`spending of tenant ${tenantId} was not recorded`);
  return day;
}

const today = prepared('spent-today', (db, p: Params<{ tenantId: number }>) =>
  db.selectFrom('daily_spend').select('spent_usd').where('tenant_id', '=', p('tenantId')).where('day', '=', TODAY),
);

/** A tenant's spending since midnight UTC, in USD. One probe of the primary key. */
export const spentToday = async (db: Db, tenantId: number): Promise<number> =>
  (await today.first(db, { tenantId }))?.spent_usd ?? 0;

/** Locks today's row of a tenant; undefined when nothing was spent yet. */
export const lockToday = (tx: Tx, tenantId: number): Promise<DailySpend | undefined> =>
  tx
    .selectFrom('daily_spend')
    .select(['day', 'spent_usd', 'last_repo_id', 'told_percent'])
    .where('tenant_id', '=', tenantId)
    .where('day', '=', TODAY)
    .forUpdate()
    .executeTakeFirst();

/** Records the reported threshold of a day whose row the caller has locked. */
export async function noteTold(tx: Tx, tenantId: number, day: string, percent: BudgetPercent | null): Promise<void> {
  await tx
    .updateTable('daily_spend')
    .set({ told_percent: percent })
    .where('tenant_id', '=', tenantId)
    .where('day', '=', day)
    .execute();
}

/** Clears the reported thresholds of past days. @returns the highest of them, null when there was none. */
export async function forgetPastDays(tx: Tx, tenantId: number): Promise<BudgetPercent | null> {
  const past = await tx
    .selectFrom('daily_spend')
    .select(['day', 'told_percent'])
    .where('tenant_id', '=', tenantId)
    .where('told_percent', 'is not', null)
    .where('day', '<', TODAY)
    .forUpdate()
    .execute();
  for (const { day } of past) await noteTold(tx, tenantId, day, null);
  return past.reduce<BudgetPercent | null>(
    (top, { told_percent: told }) => (told && told > (top ?? 0) ? told : top),
    null,
  );
}

interface BudgetDay {
  tenant_id: number;
  spent_usd: number;
  told_percent: BudgetPercent | null;
  is_today: boolean;
}

/**
 * Days that a daily limit may concern: today's with at least `fromUsd`, and all with a reported threshold. Bounded by
 * the tenants of today (daily_spend_by_day, daily_spend_told).
 * @param fromUsd null = there is no limit.
 */
export const budgetDays = (fleet: Db, fromUsd: number | null): Promise<BudgetDay[]> =>
  fleet
    .selectFrom('daily_spend')
    .modifyFront(fleetNote('budgets of every tenant'))
    .select(['tenant_id', 'spent_usd', 'told_percent', sql<boolean>`day = ${TODAY}`.as('is_today')])
    .where((eb) =>
      eb.or([
        eb('told_percent', 'is not', null),
        eb.and([eb('day', '=', TODAY), eb('spent_usd', '>=', fromUsd === null ? sql<number>`null` : fromUsd)]),
      ]),
    )
    .execute();

/**
 * Issues with a reported threshold that are done or for which the limit has a different result now. Candidates only.
 */
export const issuesWithOutdatedReport = (
  fleet: Db,
  perIssueUsd: number | null,
  limit: number,
): Promise<{ tenant_id: number; id: number }[]> =>
  fleet
    .selectFrom('issues')
    .modifyFront(fleetNote('budgets of every tenant'))
    .select(['tenant_id', 'id'])
    .where('told_budget_percent', 'is not', null)
    .where(
      sql<boolean>`(not is_open or ${perIssueUsd}::numeric is null
        or cost_usd < ${perIssueUsd}::numeric * told_budget_percent / 100)`,
    )
    .limit(limit)
    .execute();

interface HeldTask {
  id: string;
  issue_id: number | null;
}

/** Tenants with tasks held by a budget, by tasks_held_by_budget. Costs these tasks. */
export async function tenantsHeldByBudget(fleet: Db): Promise<number[]> {
  const rows = await fleet
    .selectFrom('tasks')
    .modifyFront(fleetNote('budgets of every tenant'))
    .select('tenant_id')
    .distinct()
    .where('held', '=', 'budget')
    .execute();
  return rows.map((row) => row.tenant_id);
}

/** Tasks held by a budget whose issue is within its own budget, in claim order. */
export const releasableFromBudget = (
  db: Db,
  tenantId: number,
  perIssueUsd: number | null,
  limit: number,
): Promise<HeldTask[]> =>
  db
    .selectFrom('tasks as t')
    .leftJoin('issues as i', (join) => join.onRef('i.tenant_id', '=', 't.tenant_id').onRef('i.id', '=', 't.issue_id'))
    .select(['t.id', 't.issue_id'])
    .where('t.tenant_id', '=', tenantId)
    .where('t.held', '=', 'budget')
    .where(
      sql<boolean>`(t.issue_id is null or ${perIssueUsd}::numeric is null or i.cost_usd < ${perIssueUsd}::numeric)`,
    )
    .orderBy('t.priority')
    .orderBy('t.turn')
    .limit(limit)
    .execute();

/** Claimable tasks of a tenant, in claim order: the ones to hold when the daily budget is used up. */
export const claimableTasks = (db: Db, tenantId: number, limit: number): Promise<HeldTask[]> =>
  db
    .selectFrom('tasks')
    .select(['id', 'issue_id'])
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'pending')
    .where('held', 'is', null)
    .orderBy('priority')
    .orderBy('turn')
    .limit(limit)
    .execute();

/** Number of a tenant's tasks held by a budget, counted up to `most`. */
export async function countHeldByBudget(db: Db, tenantId: number, most: number): Promise<number> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('held', '=', 'budget')
    .limit(most)
    .execute();
  return rows.length;
}

/**
 * Holds claimable tasks that no claim has locked, in one statement, in the order of the claim's index, so it costs
 * nothing when none is left. @returns how many tasks.
 */
export async function holdClaimable(db: Db, tenantId: number, limit: number): Promise<number> {
  const result = await sql`
    update tasks set held = 'budget'
    where tenant_id = ${tenantId} and id in (
      select id from tasks
      where tenant_id = ${tenantId} and status = 'pending' and held is null
      order by task_type, priority, turn, id limit ${limit} for update skip locked)`.execute(db);
  return Number(result.numAffectedRows ?? 0);
}

/** Locks a pending task; undefined when it is gone or claimed. */
export const lockPending = (tx: Tx, tenantId: number, taskId: string) =>
  tx
    .selectFrom('tasks')
    .select(['id', 'held', sql<boolean>`coalesce(run_after > ${svcNow}, false)`.as('in_backoff')])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', taskId)
    .where('status', '=', 'pending')
    .forUpdate()
    .executeTakeFirst();

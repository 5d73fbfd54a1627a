import type { BudgetPercent } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

const TODAY = sql<string>`(svc_now() at time zone 'UTC')::date`;
/** The start of the UTC day. */
export const MIDNIGHT = sql`(date_trunc('day', svc_now() at time zone 'UTC') at time zone 'UTC')`;

const today = prepared(
  'spent-today',
  (_db, p: Params<{ tenantId: number }>) => sql<{ usd: number }>`
    select coalesce(sum(amount_usd), 0) as usd from cost_events
    where tenant_id = ${p('tenantId')} and created_at >= ${MIDNIGHT}`,
);

/** A tenant's spending since midnight UTC, in USD. Costs the cost events of its day, by the primary key. */
export const spentToday = async (db: Db, tenantId: number): Promise<number> =>
  (await today.first(db, { tenantId }))?.usd ?? 0;

const told = prepared('told-today', (db, p: Params<{ tenantId: number }>) =>
  db.selectFrom('budget_days').select('told_percent').where('tenant_id', '=', p('tenantId')).where('day', '=', TODAY),
);

/** The highest threshold of today's budget that was reported; null = none. */
export const toldToday = async (db: Db, tenantId: number): Promise<BudgetPercent | null> =>
  (await told.first(db, { tenantId }))?.told_percent ?? null;

/** Locks what was reported of today's budget. @returns the highest reported threshold; null = none. */
export async function lockToldToday(tx: Tx, tenantId: number): Promise<BudgetPercent | null> {
  await tx
    .insertInto('budget_days')
    .values({ tenant_id: tenantId, day: TODAY })
    .onConflict((c) => c.columns(['tenant_id', 'day']).doNothing())
    .execute();
  const row = await tx
    .selectFrom('budget_days')
    .select('told_percent')
    .where('tenant_id', '=', tenantId)
    .where('day', '=', TODAY)
    .forUpdate()
    .executeTakeFirst();
  return row?.told_percent ?? null;
}

/** Records the reported threshold of today, whose row the caller has locked. */
export const noteToldToday = (tx: Tx, tenantId: number, percent: BudgetPercent | null): Promise<void> =>
  noteTold(tx, tenantId, TODAY, percent);

async function noteTold(
  tx: Tx,
  tenantId: number,
  day: string | RawBuilder<string>,
  percent: BudgetPercent | null,
): Promise<void> {
  await tx
    .updateTable('budget_days')
    .set({ told_percent: percent })
    .where('tenant_id', '=', tenantId)
    .where('day', '=', day)
    .execute();
}

/** Clears the reported thresholds of past days. @returns the highest of them, null when there was none. */
export async function forgetPastDays(tx: Tx, tenantId: number): Promise<BudgetPercent | null> {
  const past = await tx
    .selectFrom('budget_days')
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

/** The repo of the newest cost of a tenant's day; undefined when nothing was spent. */
export async function lastSpendingRepo(db: Db, tenantId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('cost_events')
    .select('repo_id')
    .where('tenant_id', '=', tenantId)
    .where('created_at', '>=', sql<string>`${MIDNIGHT}`)
    .orderBy('created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.repo_id;
}

/** Today's spending of each tenant, as rows (tenant_id, usd). Costs the cost events of the day, by the primary key. */
export const SPENT_TODAY = sql`
  select c.tenant_id, sum(c.amount_usd) as usd
  from tenants x join cost_events c on c.tenant_id = x.id
  where c.created_at >= ${MIDNIGHT}
  group by c.tenant_id`;

/** Tenants that have spent at least so much today, in USD. */
export async function tenantsSpending(fleet: Db, fromUsd: number): Promise<{ tenant_id: number; usd: number }[]> {
  const { rows } = await sql<{ tenant_id: number; usd: number }>`
    ${fleetNote('budgets of every tenant')}
    select tenant_id, usd from (${SPENT_TODAY}) today where usd >= ${fromUsd}`.execute(fleet);
  return rows;
}

/** Tenants with a reported threshold of a day (index budget_days_told). */
export async function tenantsTold(fleet: Db): Promise<number[]> {
  const rows = await fleet
    .selectFrom('budget_days')
    .modifyFront(fleetNote('budgets of every tenant'))
    .select('tenant_id')
    .distinct()
    .where('told_percent', 'is not', null)
    .execute();
  return rows.map((row) => row.tenant_id);
}

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

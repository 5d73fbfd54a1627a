import type { State } from '@pipeline/domain';
import { type ExpressionBuilder, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import type { IssuePlace } from './dependencies.ts';

interface EdgeEnd extends IssuePlace {
  issueId: number | null;
}

/** `child` waits for `parent`. An edge that was resolved becomes active again. */
export async function upsertEdge(
  tx: Tx,
  tenantId: number,
  { kind, child, parent }: { kind: 'depends_on' | 'subtask'; child: EdgeEnd; parent: EdgeEnd },
): Promise<void> {
  await tx
    .insertInto('issue_edges')
    .values({
      tenant_id: tenantId,
      kind,
      child_repo_id: child.repoId,
      child_issue_number: child.number,
      child_issue_id: child.issueId,
      parent_repo_id: parent.repoId,
      parent_issue_number: parent.number,
      parent_issue_id: parent.issueId,
    })
    .onConflict((c) =>
      c
        .columns(['tenant_id', 'kind', 'child_repo_id', 'child_issue_number', 'parent_repo_id', 'parent_issue_number'])
        .doUpdateSet({ active: true, resolved_by: null, resolved_at: null }),
    )
    .execute();
}

// The edges belong to other issues as well. Where such an issue changes them first and waits for a row of this transaction,
// the server ends one of both, which then runs again.
type EndedIssue = { tenantId: number; repoId: number; number: number; by: string };

const resolveAtEnd = prepared('resolve-edges-at-end', (db, p: Params<EndedIssue>) =>
  db
    .updateTable('issue_edges')
    .set({ active: sql.lit(false), resolved_by: p('by'), resolved_at: svcNow })
    .where('tenant_id', '=', p('tenantId'))
    .where('active', '=', sql.lit(true))
    .where((eb) =>
      eb.or([
        eb.and([
          eb('kind', '=', sql.lit('depends_on' as const)),
          eb('parent_repo_id', '=', p('repoId')),
          eb('parent_issue_number', '=', p('number')),
        ]),
        eb.and([
          eb('kind', '=', sql.lit('subtask' as const)),
          eb('child_repo_id', '=', p('repoId')),
          eb('child_issue_number', '=', p('number')),
        ]),
      ]),
    ),
);

/** Resolves the edges to an issue that is done: those of issues that depend on it and of the epic it is a part of. */
export const resolveEdgesAtEnd = (
  tx: Tx,
  tenantId: number,
  ended: { repoId: number; number: number },
  by: 'merged' | 'cancelled',
): Promise<void> => resolveAtEnd.run(tx, { tenantId, repoId: ended.repoId, number: ended.number, by });

type GivenUp = { tenantId: number; repoId: number; number: number; by: string };

// With the end of a parent it has one edge in common at most, so neither waits for the other while that waits for it.
const giveUp = prepared('give-up-dependencies', (db, p: Params<GivenUp>) =>
  db
    .updateTable('issue_edges')
    .set({ active: sql.lit(false), resolved_by: p('by'), resolved_at: svcNow })
    .where('tenant_id', '=', p('tenantId'))
    .where('kind', '=', sql.lit('depends_on' as const))
    .where('child_repo_id', '=', p('repoId'))
    .where('child_issue_number', '=', p('number'))
    .where('active', '=', sql.lit(true)),
);

/** Marks every active edge on which this issue waits as resolved by an operator. */
export const resolveEdgesOf = (
  tx: Tx,
  tenantId: number,
  child: { repoId: number; number: number },
  by: string,
): Promise<void> => giveUp.run(tx, { tenantId, repoId: child.repoId, number: child.number, by });

/**
 * Resolves the edges of this issue to parents that were done before the edge was inserted: the end of a parent resolves
 * only edges that it sees.
 */
export async function resolveEdgesToEnded(
  tx: Tx,
  tenantId: number,
  child: { repoId: number; number: number },
): Promise<void> {
  await tx
    .updateTable('issue_edges as e')
    .set({ active: false, resolved_by: 'done', resolved_at: svcNow })
    .where('e.tenant_id', '=', tenantId)
    .where('e.kind', '=', 'depends_on')
    .where('e.child_repo_id', '=', child.repoId)
    .where('e.child_issue_number', '=', child.number)
    .where('e.active', '=', true)
    .where((eb) => eb.exists(endedParent(eb, tenantId)))
    .execute();
}

/** The tenant of the edge `e`: of one tenant by its id, so that the statement runs on one shard; of all by the edge. */
export const tenantOfE = (tenantId: number | null) =>
  tenantId === null ? sql.ref<number>('e.tenant_id') : sql.val(tenantId);

/** The parent of edge `e`, if it is done; by the unique key of issues. */
const endedParent = (eb: ExpressionBuilder<DB & { e: DB['issue_edges'] }, 'e'>, tenantId: number | null) =>
  eb
    .selectFrom('issues as p')
    .select('p.id')
    .where('p.tenant_id', '=', tenantOfE(tenantId))
    .whereRef('p.repo_id', '=', 'e.parent_repo_id')
    .whereRef('p.issue_number', '=', 'e.parent_issue_number')
    .where('p.state', '=', 'done');

/** Active edges on which an issue waits. */
export const activeDependencies = (db: Db, tenantId: number, child: { repoId: number; number: number }) =>
  db
    .selectFrom('issue_edges as e')
    .innerJoin('repos as r', (join) =>
      join.onRef('r.tenant_id', '=', 'e.tenant_id').onRef('r.id', '=', 'e.parent_repo_id'),
    )
    .select(['r.owner', 'r.name', 'e.parent_repo_id', 'e.parent_issue_number'])
    .where('e.tenant_id', '=', tenantId)
    .where('e.kind', '=', 'depends_on')
    .where('e.child_repo_id', '=', child.repoId)
    .where('e.child_issue_number', '=', child.number)
    .where('e.active', '=', true)
    .orderBy('e.id')
    .execute();

/**
 * Issues in a state, read through the index of issue_list: an index over the issues themselves would be written at
 * every transition.
 */
export const issuesIn = (fleet: Db, state: State) =>
  fleet
    .selectFrom('issue_list as l')
    .modifyFront(fleetNote('upkeep of every tenant'))
    .innerJoin('issues as i', (join) =>
      join
        .onRef('i.tenant_id', '=', 'l.tenant_id')
        .onRef('i.repo_id', '=', 'l.repo_id')
        .onRef('i.issue_number', '=', 'l.issue_number'),
    )
    .select(['i.tenant_id', 'i.id'])
    .where('l.state', '=', state);

/** Issues in dependency-blocked without an active edge: candidates, the caller checks each under its lock. */
export const releasableIssues = (fleet: Db, limit: number): Promise<{ tenant_id: number; id: number }[]> =>
  issuesIn(fleet, 'dependency-blocked')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('issue_edges as e')
            .select('e.id')
            .whereRef('e.tenant_id', '=', 'i.tenant_id')
            .whereRef('e.child_repo_id', '=', 'i.repo_id')
            .whereRef('e.child_issue_number', '=', 'i.issue_number')
            .where('e.kind', '=', 'depends_on')
            .where('e.active', '=', true)
            .where((inner) => inner.not(inner.exists(endedParent(inner, null)))),
        ),
      ),
    )
    .limit(limit)
    .execute();

const MAX_DEPTH = 50;

/**
 * True when `parent` already waits, over at most 50 steps, for `child`: because it depends on it, or because it is an
 * epic of which it is a part. The answer holds until the caller commits its edge: concurrent checks of a tenant are
 * serialised by an advisory lock that is held until the commit. It is taken after the rows of issues; its holder locks
 * no further issue, so it cannot deadlock with those that wait for it.
 */
export async function wouldCycle(tx: Tx, tenantId: number, child: EdgeEnd, parent: EdgeEnd): Promise<boolean> {
  // A separate statement: the search must see what the last holder has committed.
  await sql`select pg_advisory_xact_lock(hashtextextended('pipeline.waits', ${tenantId}))`.execute(tx);
  const { rows } = await sql<{ found: boolean }>`
    with recursive waits (repo_id, number, depth) as (
      select ${parent.repoId}::bigint, ${parent.number}::integer, 0
      union
      select n.repo_id, n.number, w.depth + 1
      from waits w
      cross join lateral (
        select e.parent_repo_id, e.parent_issue_number from issue_edges e
        where e.tenant_id = ${tenantId} and e.kind = 'depends_on' and e.active
          and e.child_repo_id = w.repo_id and e.child_issue_number = w.number
        union all
        select e.child_repo_id, e.child_issue_number from issue_edges e
        where e.tenant_id = ${tenantId} and e.kind = 'subtask' and e.active
          and e.parent_repo_id = w.repo_id and e.parent_issue_number = w.number
      ) as n (repo_id, number)
      where w.depth < ${MAX_DEPTH}
    )
    select exists (select from waits where repo_id = ${child.repoId} and number = ${child.number}) as found`.execute(
    tx,
  );
  return rows[0]?.found ?? false;
}

import type { Cause, DeadLetter, State } from '@pipeline/domain';
import { timeOrderedId } from '@pipeline/runtime/time-ordered-id';
import { sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote, jsonb } from '../driver/fragments.ts';

/** Cause that a retry repeats: the refused decision, or the host operation that failed permanently. */
export type DeadLetterCause = { kind: 'decision'; cause: Cause } | { kind: 'projection'; projectionId: number };

interface NewDeadLetter {
  repoId: number;
  issueId: number;
  issueNumber: number;
  fromState: State | null;
  targetState: string;
  agentName: string | null;
  error: string;
  cause: DeadLetterCause;
}

export async function insertDeadLetter(tx: Tx, tenantId: number, deadLetter: NewDeadLetter): Promise<string> {
  const id = timeOrderedId();
  await tx
    .insertInto('dead_letters')
    .values({
      tenant_id: tenantId,
      id,
      repo_id: deadLetter.repoId,
      issue_id: deadLetter.issueId,
      issue_number: deadLetter.issueNumber,
      from_state: deadLetter.fromState,
      target_state: deadLetter.targetState,
      agent_name: deadLetter.agentName,
      error: deadLetter.error,
      cause: jsonb(deadLetter.cause),
    })
    .execute();
  return id;
}

/** Unresolved dead letters of the enabled repos of all tenants, newest first (index dead_letters_open). */
export async function openDeadLetters(fleet: Db, page: { limit: number; offset: number }): Promise<DeadLetter[]> {
  const rows = await fleet
    .selectFrom('dead_letters as d')
    .modifyFront(fleetNote('operators see all tenants'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 'd.tenant_id').onRef('r.id', '=', 'd.repo_id'))
    .where('r.enabled', '=', true)
    .select([
      'd.id',
      'r.owner as repoOwner',
      'r.name as repoName',
      'd.issue_number as issueNumber',
      'd.from_state as fromState',
      'd.target_state as targetState',
      'd.agent_name as agentName',
      'd.error',
      'd.created_at as createdAt',
    ])
    .where('d.resolved_at', 'is', null)
    .orderBy('d.created_at', 'desc')
    .orderBy('d.id')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  return rows as DeadLetter[];
}

export async function countOpenDeadLetters(fleet: Db): Promise<number> {
  const row = await fleet
    .selectFrom('dead_letters as d')
    .modifyFront(fleetNote('operators see all tenants'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 'd.tenant_id').onRef('r.id', '=', 'd.repo_id'))
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('d.resolved_at', 'is', null)
    .where('r.enabled', '=', true)
    .executeTakeFirstOrThrow();
  return row.n;
}

/** Finds a dead letter by its id alone: the only statement about it that does not name its tenant. */
export const locateDeadLetter = (fleet: Db, id: string): Promise<{ tenant_id: number; issue_id: number } | undefined> =>
  fleet
    .selectFrom('dead_letters')
    .modifyFront(fleetNote('finds the tenant of an id'))
    .select(['tenant_id', 'issue_id'])
    .where('id', '=', id)
    .executeTakeFirst();

interface LockedDeadLetter {
  id: string;
  repo_id: number;
  issue_id: number;
  resolved_at: string | null;
  cause: DeadLetterCause;
}

export const lockDeadLetter = async (tx: Tx, tenantId: number, id: string): Promise<LockedDeadLetter | undefined> =>
  (await tx
    .selectFrom('dead_letters')
    .select(['id', 'repo_id', 'issue_id', 'resolved_at', 'cause'])
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()) as unknown as LockedDeadLetter | undefined;

export async function resolveDeadLetter(
  tx: Tx,
  tenantId: number,
  id: string,
  by: { actor: string; resolution: 'retried' | 'resolved' },
): Promise<boolean> {
  const row = await tx
    .updateTable('dead_letters')
    .set({ resolved_at: svcNow, resolved_by: by.actor, resolution: by.resolution })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .where('resolved_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Records why the newest retry of the dead letter failed. */
export async function renewDeadLetterError(tx: Tx, tenantId: number, id: string, error: string): Promise<void> {
  await tx.updateTable('dead_letters').set({ error }).where('tenant_id', '=', tenantId).where('id', '=', id).execute();
}

/** True for an issue without a task because a transition of it failed permanently. */
export async function hasOpenDeadLetter(tx: Tx, tenantId: number, issueId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('dead_letters')
    .select(sql`1`.as('one'))
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('resolved_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

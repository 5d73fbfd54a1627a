import { sql } from 'kysely';
import type { Tx } from './database.ts';
import { LEADER, type Term } from './leadership.ts';
import { type Params, prepared } from './prepared.ts';

/** This process is no longer the leader: another one may have taken over. */
export class LeadershipLostError extends Error {
  constructor(options?: ErrorOptions) {
    super('the leadership of this process has ended', options);
    this.name = 'LeadershipLostError';
  }
}

const assertEpoch = prepared(
  'assert-leader',
  (_db, p: Params<{ name: string; epoch: number }>) => sql`select assert_leader(${p('name')}, ${p('epoch')})`,
);

/**
 * Binds a transaction to a leadership: no other process takes over before it ends. One statement that touches one row
 * and an in-memory lock; send it first.
 * @throws a database error for which `isLeadershipLost` is true when a later leader has taken over.
 */
export async function assertLeader(tx: Tx, { epoch }: Term): Promise<void> {
  await assertEpoch.run(tx, { name: LEADER, epoch });
}

/** True when work was refused because the leadership has ended; the successor does it. */
export function isLeadershipLost(error: unknown): boolean {
  if (error instanceof LeadershipLostError) return true;
  if ((Object(error) as { code?: unknown }).code === 'PL001') return true;
  return error instanceof Error && error.cause !== undefined && isLeadershipLost(error.cause);
}

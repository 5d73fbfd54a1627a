import { type Selectable, sql } from 'kysely';
import { msInterval, svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Change, Tx } from '../driver/database.ts';
import { runPrepared } from '../driver/prepared.ts';

/** Changes columns of an issue whose row the caller has locked. */
export const updateIssue = (tx: Tx, tenantId: number, issueId: number, change: Change<'issues'>): Promise<void> =>
  runPrepared(
    tx,
    'update-issue',
    tx
      .updateTable('issues')
      .set({ ...change, updated_at: svcNow })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', issueId),
  );

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

/**
 * The columns of an issue that enters a state: its time in state begins.
 * @param autoUnblockInMs when a block is lifted automatically; null = never.
 */
export const enteringState = (change: EnteredState, autoUnblockInMs: number | null): Change<'issues'> => ({
  ...change,
  // Not before the change that this transaction waited for.
  state_entered_at: sql<string>`greatest(svc_now(), state_entered_at)`,
  last_event_at: svcNow,
  auto_unblock_at: autoUnblockInMs === null ? null : sql<string>`svc_now() + ${msInterval(autoUnblockInMs)}`,
});

/** The columns of an issue that is paused or resumed. */
export const pausing = (isPaused: boolean): Change<'issues'> => ({
  is_paused: isPaused,
  paused_at: isPaused ? svcNow : null,
});

import { type Selectable, sql } from 'kysely';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';

export type AgentRestartRow = Selectable<DB['agent_restarts']>;

export const agentRestarts = (db: Db): Promise<AgentRestartRow[]> =>
  db.selectFrom('agent_restarts').selectAll().execute();

/**
 * Counts the next restart of an agent. The row decides by the store's clock, so that two monitors that both believe to
 * lead never restart it twice within the cooldown.
 * @returns the row with this attempt counted; null during the cooldown or when the attempts are used up.
 */
export async function takeRestart(
  tx: Tx,
  agent: string,
  limits: { cooldownSec: number; maxAttempts: number },
): Promise<AgentRestartRow | null> {
  const { rows } = await sql<AgentRestartRow>`
    insert into agent_restarts (agent, attempts, restarts, last_restart_at)
    select ${agent}, 1, 1, svc_now() where ${limits.maxAttempts} > 0
    on conflict (agent) do update
    set attempts = agent_restarts.attempts + 1, restarts = agent_restarts.restarts + 1,
      last_restart_at = excluded.last_restart_at, last_error = null
    where agent_restarts.attempts < ${limits.maxAttempts}
      and excluded.last_restart_at - agent_restarts.last_restart_at >= make_interval(secs => ${limits.cooldownSec})
    returning *`.execute(tx);
  return rows[0] ?? null;
}

/** Records why the current restart failed. */
export async function noteRestartError(tx: Tx, agent: string, error: string): Promise<void> {
  await tx.updateTable('agent_restarts').set({ last_error: error }).where('agent', '=', agent).execute();
}

/** Resets an agent's restart attempts; the total count is kept. @returns whether any were used. */
export async function forgiveRestarts(tx: Tx, agent: string): Promise<boolean> {
  const row = await tx
    .updateTable('agent_restarts')
    .set({ attempts: 0 })
    .where('agent', '=', agent)
    .where('attempts', '>', 0)
    .returning('agent')
    .executeTakeFirst();
  return row !== undefined;
}

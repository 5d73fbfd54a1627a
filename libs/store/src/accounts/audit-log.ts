import type { Db, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import type { ActorType } from '../records/records.ts';

/** Kind of the actor of an action outside any repo: in addition a user of an organisation, and a client program. */
type AuditActorType = ActorType | 'user' | 'client';

/** An action outside any repo. `subject` = what it was applied to, such as `user anna@example.org`. */
interface AuditEntry {
  actorType: AuditActorType;
  actorId: string;
  action: string;
  subject: string;
  reason: string | null;
  details: Record<string, unknown>;
}

/** Inserts an entry in the transaction of the action. */
export async function insertAuditEntry(tx: Tx, entry: AuditEntry): Promise<void> {
  const { actorType, actorId, action, subject, reason, details } = entry;
  await tx
    .insertInto('audit_log')
    .values({ actor_type: actorType, actor_id: actorId, action, subject, reason, details: jsonb(details) })
    .execute();
}

/** The latest entries, newest first. */
export const auditEntries = (db: Db, limit: number) =>
  db
    .selectFrom('audit_log')
    .select(['id', 'at', 'actor_type', 'actor_id', 'action', 'subject', 'reason', 'details'])
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();

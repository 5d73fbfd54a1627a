import { auditEntries } from '@pipeline/store';
import type { Admin } from '../context/admin.ts';

/** Audit entries outside any repo, newest first: actions of administrators, and of the pipeline on its agents. */
export async function listAudit({ engine }: Admin, limit: number) {
  const rows = await auditEntries(engine.store.db, limit);
  return rows.map(({ id, at, actor_type, actor_id, action, subject, reason, details }) => ({
    id,
    at,
    actorType: actor_type,
    actor: actor_id,
    action,
    subject,
    reason,
    details,
  }));
}

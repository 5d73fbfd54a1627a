import { auditEntries } from '@pipeline/store';
import type { Admin } from '../context/admin.ts';

/** What was done outside any repo, newest first: by administrators, and by the pipeline to its agents. */
export async function listAudit({ engine }: Admin, limit: number) {
  const rows = await auditEntries(engine.store.tenant, limit);
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

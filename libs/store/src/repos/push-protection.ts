import { svcNow, svcNowPlus } from '../driver/clock.ts';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import type { RepoRow } from './repos.ts';

/** Validity in ms of the host's answer about its own settings. */
const TRUSTED_MS = 24 * 60 * 60_000;

/**
 * Enabled repos whose push protection was never read, or was last read a day ago; oldest first. One pass over the
 * repos.
 */
export const reposToCheck = (fleet: Db, limit: number): Promise<RepoRow[]> =>
  fleet
    .selectFrom('repos')
    .modifyFront(fleetNote('loops serve every repo'))
    .selectAll()
    .where('enabled', '=', true)
    .where((eb) => eb.or([eb('push_checked_at', 'is', null), eb('push_checked_at', '<', svcNowPlus(-TRUSTED_MS))]))
    .orderBy('push_checked_at', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute();

/** Saves whether pushes to the default branch are restricted; null = the host did not report it. */
export async function savePushProtection(
  db: Db,
  { tenant_id, id }: Pick<RepoRow, 'tenant_id' | 'id'>,
  restricted: boolean | null,
): Promise<void> {
  await db
    .updateTable('repos')
    .set({ push_restricted: restricted, push_checked_at: svcNow })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .execute();
}

const RETRY_MS = 60 * 60_000;

/**
 * Makes a repo due again in an hour and keeps its stored value: the host failed, or this process has no access to it.
 */
export async function postponeProtectionCheck(
  db: Db,
  { tenant_id, id }: Pick<RepoRow, 'tenant_id' | 'id'>,
): Promise<void> {
  await db
    .updateTable('repos')
    .set({ push_checked_at: svcNowPlus(RETRY_MS - TRUSTED_MS) })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .execute();
}

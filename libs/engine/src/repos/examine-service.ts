import { statfs } from 'node:fs/promises';
import {
  DEFAULT_SETTINGS,
  type DoctorCheck,
  judgeBudget,
  judgeClock,
  judgeDatabase,
  judgeDisk,
  Settings,
  unknownCheck,
} from '@pipeline/domain';
import { readServerFacts, readSettings, schemaStatus, storeTime } from '@pipeline/store';
import type { Admin } from '../context/admin.ts';
import { type CheckList, type Deadline, runChecks } from './run-checks.ts';

/** Checks the database, its clock and disk, and the budget: what does not depend on a repository. Never throws. */
export function examineService(
  { engine }: Admin,
  { now, deadline }: { now: () => Date; deadline: Deadline },
): Promise<DoctorCheck[]> {
  const db = engine.store.db;
  const checks: CheckList = {
    database: async () => {
      const [{ version }, schema] = await Promise.all([readServerFacts(db), schemaStatus(db)]);
      return judgeDatabase({
        serverVersion: version,
        migration: schema.current,
        unknownMigrations: schema.unknown,
      });
    },
    'database-clock': async () => {
      const sent = now().getTime();
      const time = await storeTime(db);
      const received = now().getTime();
      const skewMs = (sent + received) / 2 - time.getTime();
      return judgeClock('database-clock', { skewMs, precisionMs: (received - sent) / 2 });
    },
    disk: async () => {
      const { localDataDirectory: path } = await readServerFacts(db);
      if (path === null) return unknownCheck('disk', 'the data directory is not on this machine, or not readable');
      const { bsize, bavail, blocks } = await statfs(path);
      return judgeDisk({ path, free: bavail * bsize, total: blocks * bsize });
    },
    budget: async () => {
      const row = await readSettings(db);
      const settings = row ? Settings.parse(row.body) : DEFAULT_SETTINGS;
      return judgeBudget(settings.costLimits);
    },
  };
  return runChecks(checks, deadline);
}

import type { Kysely } from 'kysely';
import { up as functions } from './0001-functions.ts';
import { up as accounts } from './0002-accounts.ts';
import { up as repos } from './0003-repos.ts';
import { up as issues } from './0004-issues.ts';
import { up as history } from './0005-history.ts';
import { up as queue } from './0006-queue.ts';
import { up as outbox } from './0007-outbox.ts';
import { up as intake } from './0008-intake.ts';
import { up as costs } from './0009-costs.ts';
import { up as analytics } from './0010-analytics.ts';
import { up as alerts } from './0011-alerts.ts';
import { up as knowledge } from './0012-knowledge.ts';
import { up as tracks } from './0013-tracks.ts';
import { up as processes } from './0014-processes.ts';

/** A schema change, forward only. `breaking` = code that does not know it must not run on it. */
export interface SchemaMigration {
  up(db: Kysely<unknown>): Promise<void>;
  breaking?: boolean;
}

/**
 * Migrations in order, from the baseline of the first release on. Listed by hand, so that bundles contain them and reviewers
 * see the order.
 */
export const MIGRATIONS: Record<string, SchemaMigration> = {
  '0001-functions': { up: functions },
  '0002-accounts': { up: accounts },
  '0003-repos': { up: repos },
  '0004-issues': { up: issues },
  '0005-history': { up: history },
  '0006-queue': { up: queue },
  '0007-outbox': { up: outbox },
  '0008-intake': { up: intake },
  '0009-costs': { up: costs },
  '0010-analytics': { up: analytics },
  '0011-alerts': { up: alerts },
  '0012-knowledge': { up: knowledge },
  '0013-tracks': { up: tracks },
  '0014-processes': { up: processes },
};

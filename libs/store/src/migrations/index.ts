import type { Kysely } from 'kysely';
import * as tenantsAndRepos from './0001-tenants-and-repos.ts';
import * as issues from './0002-issues.ts';
import * as tasksAndRuns from './0003-tasks-and-runs.ts';
import * as events from './0004-events.ts';
import * as outbox from './0005-outbox.ts';
import * as consistency from './0006-consistency.ts';
import * as workerPeriods from './0007-worker-periods.ts';

/** A schema change, forward only. `breaking` = code that does not know it must not run on it. */
export interface SchemaMigration {
  up(db: Kysely<unknown>): Promise<void>;
  breaking?: boolean;
}

/** In order. Listed by hand, so that bundles contain them and reviewers see the order. */
export const MIGRATIONS: Record<string, SchemaMigration> = {
  '0001-tenants-and-repos': tenantsAndRepos,
  '0002-issues': issues,
  '0003-tasks-and-runs': tasksAndRuns,
  '0004-events': events,
  '0005-outbox': outbox,
  '0006-consistency': consistency,
  '0007-worker-periods': workerPeriods,
};

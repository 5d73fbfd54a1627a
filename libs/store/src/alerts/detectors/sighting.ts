import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../driver/database.ts';

/** A problem that a detector found; the caller that raises the alert formats the message. */
export interface Sighting {
  tenant_id: number;
  /** Identifies the problem while it lasts: the fingerprint without the detector's name. */
  subject: string;
  /** Slug, owner/name. */
  repo: string | null;
  issue_number: number | null;
  worker_id: string | null;
  value: number;
  /** For the message: a name, a state, an error. */
  detail: string | null;
}

/** Limit per kind: beyond it, there is one common cause to look for instead of a list. */
export const MAX_SIGHTINGS = 200;

export const sightings = async (fleet: Db, statement: RawBuilder<Sighting>): Promise<Sighting[]> =>
  (await statement.execute(fleet)).rows;

export const slugOf = sql<string>`r.owner || '/' || r.name`;
export const repoOf = (alias: string): RawBuilder<unknown> =>
  sql`join repos r on r.tenant_id = ${sql.ref(`${alias}.tenant_id`)} and r.id = ${sql.ref(`${alias}.repo_id`)}`;
export const minutesAgo = (minutes: number): RawBuilder<string> =>
  sql<string>`svc_now() - make_interval(secs => ${minutes * 60})`;
export const minutesSince = (column: string): RawBuilder<number> =>
  sql<number>`floor(extract(epoch from svc_now() - ${sql.ref(column)}) / 60)::int`;

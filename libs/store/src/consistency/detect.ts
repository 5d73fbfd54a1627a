import type { Slug, StoredConsistencyKind } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { DETECTORS, type Place, type Scope, within } from './kinds.ts';

/** A detector's finding, with the repo as spelt on the host. */
export interface Detected {
  repo: Slug;
  /** The form in which slugs are compared. */
  slugKey: string;
  /** External id of the repo's tenant. */
  tenant: string;
  issueNumber: number;
  detail: Record<string, unknown>;
}

interface FoundRow extends Place {
  owner: string;
  name: string;
  slug_key: string;
  tenant: string;
}

/** The statement of a detector: enabled repos only, in the order of the list. */
export const detectStatement = (kind: StoredConsistencyKind, scope: Scope, limit: number): RawBuilder<FoundRow> => sql`
  ${front(scope)} select r.owner, r.name, r.slug_key, t.external_id as tenant, f.*
  from (${DETECTORS[kind].query(scope)}) f
  ${enabledRepo(scope)}
  join tenants t on t.id = r.tenant_id
  order by r.slug_key, r.tenant_id, f.issue_number
  limit ${limit}`;

/**
 * Runs one detector. Inside a transaction it sees the changes of the transaction.
 * @returns at most `limit`, ordered by repo and issue.
 */
export async function detect(db: Db, kind: StoredConsistencyKind, scope: Scope, limit: number): Promise<Detected[]> {
  const { rows } = await detectStatement(kind, scope, limit).execute(db);
  return rows.map((row) => ({
    repo: { owner: row.owner, name: row.name },
    slugKey: row.slug_key,
    tenant: row.tenant,
    issueNumber: row.issue_number,
    detail: DETECTORS[kind].detail(row as never),
  }));
}

/** Total number of findings of a kind, for a truncated list. Costs as much as the list. */
export async function countDetected(fleet: Db, kind: StoredConsistencyKind): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    ${front('all')} select count(*) as n from (${DETECTORS[kind].query('all')}) f ${enabledRepo('all')}`.execute(fleet);
  return rows[0]?.n ?? 0;
}

const front = (scope: Scope): RawBuilder<unknown> =>
  scope === 'all' ? fleetNote('operators see the contradictions of all tenants') : sql``;

const enabledRepo = (scope: Scope): RawBuilder<unknown> => sql`
  join repos r on r.tenant_id = f.tenant_id and r.id = f.repo_id and r.enabled
    and ${within(scope, 'r', { repo: 'id' })}`;

import { type RawBuilder, sql } from 'kysely';

/** Scope of a check: every enabled repo of every tenant, one repo, or one issue. */
export type Scope = 'all' | { tenantId: number; repoId: number; issueNumber?: number };

/** The issue that a row is about. */
export interface Place {
  tenant_id: number;
  repo_id: number;
  issue_number: number;
}

/**
 * One kind of inconsistency, as one SELECT: the list of all findings and the check before and after a repair are the
 * same statement with another scope, so they cannot disagree.
 */
export interface Detector<Row> {
  /** One row per issue; a scope restricts it inside, where indexes can use it. */
  query(scope: Scope): RawBuilder<Place & Row>;
  /** What distinguishes one finding from another for a reader. */
  detail(row: Row): Record<string, unknown>;
}

/** How a table names the issue of a row; without a number its rows are whole repos. */
interface PlaceColumns {
  repo: string;
  number?: string;
}

const OWN: PlaceColumns = { repo: 'repo_id', number: 'issue_number' };

/** The condition that restricts a table to the scope. Every level of a statement for one tenant needs it. */
export function within(scope: Scope, alias: string, columns: PlaceColumns = OWN): RawBuilder<boolean> {
  if (scope === 'all') return sql`true`;
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  const repo = sql<boolean>`${column('tenant_id')} = ${scope.tenantId} and ${column(columns.repo)} = ${scope.repoId}`;
  if (scope.issueNumber === undefined || columns.number === undefined) return repo;
  return sql`${repo} and ${column(columns.number)} = ${scope.issueNumber}`;
}

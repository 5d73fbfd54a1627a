import { type RawBuilder, sql } from 'kysely';
import { openFacts } from './rollups/facts.ts';

/** The scope of a query: one repo, all of a tenant, or everything. A repo comes with its tenant. */
export interface AnalyticsScope {
  tenantId: number | null;
  repoId: number | null;
}

/** Rows of the history within a scope. */
export const within = (alias: string, { tenantId, repoId }: AnalyticsScope): RawBuilder<unknown> => sql`
  (${tenantId}::bigint is null or ${sql.ref(`${alias}.tenant_id`)} = ${tenantId})
  and (${repoId}::bigint is null or ${sql.ref(`${alias}.repo_id`)} = ${repoId})`;

/** Rollup rows of exactly that scope; rollups exist for repos, tenants and everything. */
export const atLevel = (alias: string, { tenantId, repoId }: AnalyticsScope): RawBuilder<unknown> => sql`
  ${sql.ref(`${alias}.tenant_id`)} = ${tenantId ?? 0} and ${sql.ref(`${alias}.repo_id`)} = ${repoId ?? 0}`;

/** The facts that the rollups of a scope lack, as common table expressions: moves, costs, events. */
export const openFactsOf = (scope: AnalyticsScope): RawBuilder<unknown> => openFacts((alias) => within(alias, scope));

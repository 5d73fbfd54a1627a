import { type RawBuilder, sql } from 'kysely';
import { factsOfDeltas, type Of } from './rollups/aggregate.ts';

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

/** Facts of deltas that are not aggregated yet, as common table expressions: moves, cohort, costs, events. */
export const waitingFacts = (scope: AnalyticsScope): RawBuilder<unknown> => waitingOf((alias) => within(alias, scope));

/** The same for deltas that meet a condition. */
export const waitingOf = (of: Of): RawBuilder<unknown> => sql`
  d as materialized (select r.tenant_id, r.repo_id, r.at, r.body from rollup_deltas r where ${of('r')}), ${factsOfDeltas}`;

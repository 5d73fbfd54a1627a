import { KPI_HISTORY, type Kpi, type KpiDirection, type KpiMagnitude, type KpiVerdict } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote, wireTime } from '../driver/fragments.ts';

const TODAY = sql`(svc_now() at time zone 'UTC')::date`;

/** Stores the KPIs of a repo for today; a later evaluation of the same day replaces them. */
export async function keepKpis(
  tx: Tx,
  { tenantId, repoId }: { tenantId: number; repoId: number },
  verdicts: readonly (KpiVerdict & { kpi: Kpi })[],
): Promise<void> {
  await sql`
    insert into kpi_snapshots (tenant_id, repo_id, kpi, day, computed_at, value, baseline_value, relative_delta, sample_size,
      baseline_sample_size, regressed, magnitude, direction)
    select ${tenantId}, ${repoId}, v.kpi, ${TODAY}, svc_now(), v."currentValue", v."baselineValue", v."relativeDelta",
      v."currentSampleSize", v."baselineSampleSize", v.regressed, v.magnitude, v.direction
    from jsonb_to_recordset(${JSON.stringify(verdicts)}::jsonb) as v (kpi text, "currentValue" float8,
      "baselineValue" float8, "relativeDelta" float8, "currentSampleSize" integer, "baselineSampleSize" integer,
      regressed boolean, magnitude text, direction text)
    on conflict (tenant_id, repo_id, kpi, day) do update
    set computed_at = excluded.computed_at, value = excluded.value, baseline_value = excluded.baseline_value,
      relative_delta = excluded.relative_delta, sample_size = excluded.sample_size,
      baseline_sample_size = excluded.baseline_sample_size, regressed = excluded.regressed,
      magnitude = excluded.magnitude, direction = excluded.direction`.execute(tx);
}

export interface KpiRepo {
  tenant_id: number;
  repo_id: number;
  owner: string;
  name: string;
}

/** Enabled repos without an evaluation for this long; one probe of today's and yesterday's snapshots each. */
export async function reposDueForKpis(fleet: Db, everyMs: number, limit: number): Promise<KpiRepo[]> {
  const { rows } = await sql<KpiRepo>`
    ${fleetNote('the guard watches the repos of all tenants')}
    select r.tenant_id, r.id as repo_id, r.owner, r.name from repos r
    where r.enabled and not exists (
      select from kpi_snapshots k
      where k.tenant_id = r.tenant_id and k.repo_id = r.id and k.kpi = 'block_rate' and k.day >= ${TODAY} - 1
        and k.computed_at > svc_now() - ${`${everyMs} ms`}::interval)
    order by r.tenant_id, r.id
    limit ${limit}`.execute(fleet);
  return rows;
}

/** Open alerts about KPIs of repos that are no longer enabled and so no longer evaluated. Cost: the open alerts. */
export async function regressionsOfDisabledRepos(fleet: Db): Promise<{ tenant_id: number; fingerprint: string }[]> {
  const { rows } = await sql<{ tenant_id: number; fingerprint: string }>`
    ${fleetNote('the guard watches the repos of all tenants')}
    select a.tenant_id, a.fingerprint from alerts a
    join repos r on r.tenant_id = a.tenant_id and a.fingerprint like 'kpi_regression:' || r.id || ':%'
    where a.resolved_at is null and a.detector = 'kpi_regression' and not r.enabled
    order by a.tenant_id, a.fingerprint`.execute(fleet);
  return rows;
}

export interface KpiRow {
  tenantId: number;
  repoId: number;
  owner: string;
  repo: string;
  kpi: Kpi;
  currentValue: number | null;
  baselineValue: number | null;
  relativeDelta: number | null;
  currentSampleSize: number;
  baselineSampleSize: number;
  regressed: boolean;
  magnitude: KpiMagnitude;
  direction: KpiDirection;
  history: { computedAt: string; value: number | null }[];
}

/**
 * The newest value of every KPI of the enabled repos, and its history, newest first. Repos without an evaluation for a
 * month are left out. The history is looked up in two months. Cost: the
 * snapshots of these months, by their key.
 */
export async function latestKpis(fleet: Db): Promise<KpiRow[]> {
  const { rows } = await sql<KpiRow>`
    ${fleetNote('operators see all tenants')}
    select r.tenant_id as "tenantId", r.id as "repoId", r.owner, r.name as repo, k.kpi, k."currentValue",
      k."baselineValue", k."relativeDelta", k."currentSampleSize", k."baselineSampleSize", k.regressed, k.magnitude,
      k.direction, k.history
    from repos r
    join (
      select n.tenant_id, n.repo_id, n.kpi,
        max(n.value) filter (where n.place = 1) as "currentValue",
        max(n.baseline_value) filter (where n.place = 1) as "baselineValue",
        max(n.relative_delta) filter (where n.place = 1) as "relativeDelta",
        max(n.sample_size) filter (where n.place = 1) as "currentSampleSize",
        max(n.baseline_sample_size) filter (where n.place = 1) as "baselineSampleSize",
        bool_or(n.regressed) filter (where n.place = 1) as regressed,
        max(n.magnitude) filter (where n.place = 1) as magnitude,
        max(n.direction) filter (where n.place = 1) as direction,
        json_agg(json_build_object('computedAt', ${wireTime('n.computed_at')}, 'value', n.value) order by n.day desc)
          as history
      from (
        select s.*, row_number() over (partition by s.tenant_id, s.repo_id, s.kpi order by s.day desc) as place
        from repos r join kpi_snapshots s on s.tenant_id = r.tenant_id and s.repo_id = r.id
        where r.enabled and s.day > ${TODAY} - ${sql.lit(2 * KPI_HISTORY)}
      ) n
      where n.place <= ${sql.lit(KPI_HISTORY)}
      group by n.tenant_id, n.repo_id, n.kpi
      having max(n.day) > ${TODAY} - ${sql.lit(KPI_HISTORY)}
    ) k on k.tenant_id = r.tenant_id and k.repo_id = r.id
    where r.enabled
    order by r.slug_key, r.tenant_id, k.kpi`.execute(fleet);
  return rows;
}

/** Deletes snapshots that are older. */
export async function deleteOldKpis(fleet: Db, keptDays: number): Promise<void> {
  await sql`
    ${fleetNote('retention')}
    delete from kpi_snapshots where day < ${TODAY} - ${keptDays}::integer`.execute(fleet);
}

import { type Kysely, sql } from 'kysely';

/** Name, kind, task type and minutes before a warning, as every release up to this one seeded them. */
const SEEDED_STATES = [
  ['new', 'active', null, 60],
  ['analyzing', 'active', 'analyze', 120],
  ['planning', 'active', 'plan', 120],
  ['ready-for-dev', 'active', 'develop', 480],
  ['in-review', 'active', 'review', 240],
  ['changes-requested', 'active', 'develop', 480],
  ['merge-pending', 'active', 'merge', 120],
  ['waiting-for-subtasks', 'waiting', null, null],
  ['dependency-blocked', 'blocked', null, 1440],
  ['failure-blocked', 'blocked', null, 60],
  ['needs-clarification', 'human', null, 1440],
  ['human-review-ready', 'human', null, 1440],
  ['done', 'terminal', null, null],
] as const;

const states = (withLimits: boolean): string =>
  JSON.stringify(
    SEEDED_STATES.map(([name, kind, taskType, limit]) => {
      return { name, kind, taskType, warnAfterMinutes: withLimits ? limit : null };
    }),
  );

/** Gives evidence of findings that was stored without a `kind` the kind `text`, and drops fields of a wrong type. */
async function evidence(db: Kysely<unknown>): Promise<void> {
  await sql`
    update pipeline.findings
    set evidence = (
      select coalesce(jsonb_agg(
        case when coalesce(e.body->>'kind', '') = '' or jsonb_typeof(e.body->'kind') <> 'string'
          then '{"kind": "text"}'::jsonb else '{}'::jsonb end
        || (e.body - case when coalesce(e.body->>'kind', '') = '' or jsonb_typeof(e.body->'kind') <> 'string'
          then 'kind' else '' end - array(
            select f.key from jsonb_each(e.body) f
            where (f.key in ('ref', 'path', 'url', 'summary') and jsonb_typeof(f.value) <> 'string')
              or (f.key in ('lineStart', 'lineEnd') and f.value::text !~ '^[0-9]{1,15}$')))
        order by e.n), '[]'::jsonb)
      from jsonb_array_elements(evidence) with ordinality e (body, n)
      where jsonb_typeof(e.body) = 'object')
    where jsonb_typeof(evidence) = 'array' and evidence <> '[]'::jsonb`.execute(db);
}

/**
 * Removes the warning limits from workflows that the service seeded, so that `sla.warnAfterMinutes` applies to them.
 * A version that a person stored (`created_by`), or whose states differ, keeps its limits.
 */
async function limits(db: Kysely<unknown>): Promise<void> {
  await sql`
    update pipeline.workflow_snapshots
    set body = body || ${`{"states": ${states(false)}}`}::jsonb
    where created_by is null and body->'states' = ${states(true)}::jsonb`.execute(db);
}

export async function up(db: Kysely<unknown>): Promise<void> {
  await limits(db);
  await evidence(db);
}

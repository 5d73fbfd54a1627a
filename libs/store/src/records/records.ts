import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { deltasOf } from './deltas.ts';
import type { Records } from './inputs.ts';

export const noRecords = (): Records => ({
  transitions: [],
  issueEvents: [],
  pipelineEvents: [],
  stream: [],
  entries: [],
  costs: [],
});

type Texts = { [K in 'transitions' | 'issueEvents' | 'pipelineEvents' | 'stream' | 'deltas']: string };

/**
 * The time of an issue's next event: that of the transaction, or just after an event that a later transaction committed
 * first. The holder of the issue's lock writes events in time order, so a client that polls by the newest time misses
 * none. Cost: a probe of issue_events_of_issue in the newest partition, which holds the last minutes.
 */
const laterThanAll = (issueId: string, tenantId: RawBuilder<unknown>) => sql`
  greatest(svc_now(), (
    select max(o.created_at) + interval '1 microsecond' from issue_events o
    where o.tenant_id = ${tenantId} and o.issue_id = ${sql.raw(issueId)}
      and o.created_at > svc_now() - interval '1 minute'))`;

const insert = prepared(
  'insert-records',
  (_db, p: Params<Texts & { tenantId: number }>) => sql`
    with transition as (
      insert into transitions (tenant_id, repo_id, issue_id, from_state, to_state, trigger, forced, agent, actor_type,
        actor_id, reason, duration_in_from_ms)
      select ${p('tenantId')}, t."repoId", t."issueId", t."from", t."to", t."trigger", t.forced, t.agent, t."actorType",
        t."actorId", t.reason, t."durationMs"
      from jsonb_to_recordset(${p('transitions')}::jsonb) as t ("repoId" bigint, "issueId" bigint, "from" text, "to" text,
        "trigger" text, forced boolean, agent text, "actorType" text, "actorId" text, reason text, "durationMs" bigint)
    ), story as (
      insert into issue_events (tenant_id, created_at, issue_id, actor_type, actor_id, status, details, state)
      select ${p('tenantId')}, ${laterThanAll('e."issueId"', p('tenantId'))}, e."issueId", e."actorType", e."actorId", e.status, e.details, e.state
      from jsonb_to_recordset(${p('issueEvents')}::jsonb) as e ("issueId" bigint, "actorType" text, "actorId" text,
        status text, details jsonb, state text)
    ), event as (
      insert into pipeline_events (tenant_id, repo_id, issue_id, issue_number, event_type, agent, payload)
      select ${p('tenantId')}, e."repoId", e."issueId", e."issueNumber", e."eventType", e.agent, e.payload
      from jsonb_to_recordset(${p('pipelineEvents')}::jsonb) as e ("repoId" bigint, "issueId" bigint,
        "issueNumber" integer, "eventType" text, agent text, payload jsonb)
    ), delta as (
      insert into rollup_deltas (tenant_id, repo_id, body)
      select ${p('tenantId')}, d."repoId", d.body
      from jsonb_to_recordset(${p('deltas')}::jsonb) as d ("repoId" bigint, body jsonb)
    )
    insert into stream_outbox (tenant_id, event_type, data)
    select ${p('tenantId')}, s.type, s.data
    from jsonb_to_recordset(${p('stream')}::jsonb) as s (type text, data jsonb)`,
);

/** Writes the log entries of a transaction in one statement, whatever their number. */
export async function insertRecords(tx: Tx, tenantId: number, records: Records): Promise<void> {
  if (Object.values(records).every((entries) => entries.length === 0)) return;
  await insert.run(tx, {
    tenantId,
    transitions: JSON.stringify(records.transitions),
    issueEvents: JSON.stringify(records.issueEvents),
    pipelineEvents: JSON.stringify(records.pipelineEvents),
    stream: JSON.stringify(records.stream),
    deltas: JSON.stringify(deltasOf(records)),
  });
}

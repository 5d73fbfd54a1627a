import type { Db } from '@pipeline/store';
import { sql } from 'kysely';

/** The values of the call `a` when it is first recorded. */
const newCall = (unreportedCosts: 0 | 1) => sql`
  jsonb_build_object('at', null, 'invocations', 1, 'inputTokens', a.input_tokens, 'outputTokens', a.output_tokens,
    'cacheReadTokens', a.cache_read_tokens, 'cacheWriteTokens', a.cache_write_tokens,
    'maxTurns', (a.stop_reason = 'max_turns')::int, 'noProgress', (a.stop_reason = 'no_progress')::int,
    'unreportedCosts', ${sql.lit(unreportedCosts)})`;

/** Appends the deltas of the whole history, as its writers would have, and aggregates none. */
export async function appendDeltas(db: Db): Promise<void> {
  await sql`
    insert into rollup_deltas (tenant_id, repo_id, at, body)
    select tenant_id, repo_id, created_at, '{"moves": [{"to": "new", "first": true}]}' from issues
    union all
    select t.tenant_id, t.repo_id, t.at, jsonb_build_object('moves', jsonb_build_array(jsonb_build_object(
      'from', t.from_state, 'to', t.to_state, 'cohort', i.created_at, 'stay', t.duration_in_from_ms, 'first',
      t.to_state <> 'new' and row_number() over (partition by t.tenant_id, t.issue_id, t.to_state order by t.id) = 1)))
    from transitions t join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
    union all
    select tenant_id, repo_id, created_at, jsonb_build_object('events', jsonb_build_array(jsonb_build_object(
      'type', event_type, 'task', payload ->> 'taskType', 'n', 1)))
    from pipeline_events`.execute(db);
  await sql`
    insert into rollup_deltas (tenant_id, repo_id, at, body)
    select c.tenant_id, c.repo_id, c.created_at, jsonb_build_object('costs', jsonb_build_array(jsonb_build_object(
      'agent', c.agent, 'model', c.model, 'provider', a.provider, 'usd', c.amount_usd, 'call',
      case when c.created_at = a.created_at then ${newCall(0)}
      else '{"at": null, "invocations": 0, "inputTokens": 0, "outputTokens": 0, "cacheReadTokens": 0,
        "cacheWriteTokens": 0, "maxTurns": 0, "noProgress": 0, "unreportedCosts": 0}'::jsonb end)))
    from cost_events c
    join agent_invocations a on a.tenant_id = c.tenant_id and a.run_id = c.run_id
      and a.invocation_index = c.invocation_index
    union all
    select r.tenant_id, r.repo_id, a.created_at, jsonb_build_object('costs', jsonb_build_array(jsonb_build_object(
      'agent', r.agent, 'model', a.model, 'provider', a.provider, 'usd', 0, 'call', ${newCall(1)})))
    from agent_invocations a join runs r on r.tenant_id = a.tenant_id and r.id = a.run_id
    where a.cost_usd is null`.execute(db);
}

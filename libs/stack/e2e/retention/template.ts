import { DAY_MS } from '@pipeline/domain';
import { simulateHistory } from '@pipeline/testing/history';
import type pg from 'pg';
import { storeAt } from '../history/filled.ts';

/** Tables whose rows are copied, and the time by which old copies are left out. */
export const COPIED: Readonly<Record<string, string>> = {
  issues: 'created_at',
  issue_list: 'written_at',
  issue_edges: 'created_at',
  pull_requests: 'opened_at',
  transitions: 'at',
  runs: 'claimed_at',
  agent_invocations: 'created_at',
  pipeline_events: 'created_at',
  issue_events: 'created_at',
  cost_events: 'created_at',
  projections: 'updated_at',
  projection_attempts: 'started_at',
  agent_messages: 'task_created_at',
  artefacts: 'created_at',
  findings: 'created_at',
  finding_sightings: 'seen_at',
  dead_letters: 'created_at',
  retrospectives: 'created_at',
};

/** Filled by other statements, or not at all. */
const EMPTIED = [
  ...['tasks', 'worker_periods', 'budget_days', 'issue_counts', 'issue_count_deltas', 'late_costs', 'closed_facts'],
  ...['state_minutes', 'stay_hours', 'transition_counts', 'task_counts', 'cost_sums', 'event_counts'],
  ...['si_issues', 'tracks', 'intelligence_items', 'stream_outbox', 'stream_events'],
];

const TEMPLATE_DAYS = 5;
export const TEMPLATE_MS = TEMPLATE_DAYS * DAY_MS;
const TENANTS = 8;
const REPOS = 40;

export interface Template {
  tenantIds: number[];
  /** Names of the tenants. */
  tenants: string[];
  /** Rows of each table that the template's issues leave. */
  templateRows: Record<string, number>;
}

interface TemplateOptions {
  url: string;
  issues: number;
  seed: number;
  end: Date;
}

/**
 * Simulates a few days of a deployment and moves their rows to the schema `template`, with texts of usual length and
 * without work in progress, which a monitor would go on with.
 */
export async function makeTemplate(client: pg.Client, options: TemplateOptions): Promise<Template> {
  const store = storeAt(options.url, options.end);
  try {
    const { issues, seed, end } = options;
    const world = { tenants: TENANTS, repos: REPOS, days: TEMPLATE_DAYS };
    const history = await simulateHistory(store.db, { ...world, issues, seed, end });
    for (const statement of [...SETTLE, ...TEXTS]) await client.query(statement);
    await client.query('create schema template');
    const templateRows: Record<string, number> = {};
    for (const table of Object.keys(COPIED)) {
      const made = await client.query(`create table template.${table} as select * from pipeline.${table}`);
      templateRows[table] = made.rowCount ?? 0;
    }
    const emptied = [...Object.keys(COPIED), ...EMPTIED].map((table) => `pipeline.${table}`);
    await client.query(`truncate ${emptied.join(', ')} cascade`);
    return {
      tenantIds: history.tenants.map(({ id }) => id),
      tenants: history.tenants.map(({ externalId }) => externalId),
      templateRows,
    };
  } finally {
    await store.close();
  }
}

const SETTLE = [
  `update runs set status = 'lost', finished_at = claimed_at + interval '1 min' where status = 'claimed'`,
  `update projections set status = 'complete' where status = 'pending'`,
  `update issues set state = 'done', is_blocked = false, is_paused = false, paused_at = null, auto_unblock_at = null,
    block_reason = null, block_classification = null, blocked_from_state = null, question = null where state <> 'done'`,
  `update issue_list set state = 'done', is_blocked = false, is_paused = false where state <> 'done' or is_paused or is_blocked`,
  `update dead_letters set resolved_at = created_at, resolved_by = 'olga', resolution = 'resolved' where resolved_at is null`,
  'update repos set enabled = false',
  `update workers set status = 'offline', left_at = coalesce(left_at, last_heartbeat_at), stalled_since = null`,
];

/** Text that does not compress, about 33 characters a word. */
const words = (count: number): string =>
  `(select string_agg(md5(t.ctid::text || n), ' ') from generate_series(1, ${count}) n)`;

const MESSAGES_OF_RUN = 5;

/** Lengths of the texts of usual issues; the simulator's are a few words. */
const TEXTS = [
  `update issues t set body = ${words(30)}, plan = ${words(30)}, status_comment_body = ${words(20)}, current_status = ${words(2)}`,
  `update pull_requests t set body = ${words(20)}`,
  `update runs t set report_hash = md5(t.ctid::text), report_answer = jsonb_build_object('accepted', true, 'text', ${words(3)})
    where status = 'finished'`,
  `update projections t set action = action || jsonb_build_object('body', ${words(20)}) where lane <> 'labels'`,
  `update findings t set summary = ${words(10)}`,
  `update retrospectives t set summary = ${words(15)}`,
  `update artefacts t set body = ${words(100)}`,
  'delete from agent_messages',
  `insert into agent_messages (tenant_id, task_created_at, task_id, invocation_index, sequence, issue_id, agent, role, subtype,
      content, truncated, created_at)
    select tenant_id, claimed_at, task_id, attempt, n, issue_id, agent, 'assistant', 'text', 'text', false,
      claimed_at + make_interval(secs => n)
    from runs, generate_series(1, ${MESSAGES_OF_RUN}) n`,
  `update agent_messages t set content = ${words(18)}`,
];

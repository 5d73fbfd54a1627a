import {
  DEFAULT_SETTINGS,
  DEFAULT_WORKFLOW,
  ENQUEUE_LABEL,
  type Invocation,
  type Settings,
  type State,
} from '@pipeline/domain';
import { type ClaimedTask, type Engine, putRepo, type Report } from '@pipeline/engine';
import { ensureTenant, prepared, type RepoRow } from '@pipeline/store';
import type { TestDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import type { Acts } from './acts.ts';
import { engineActs } from './engine-acts.ts';
import { ModelHost } from './host.ts';
import { HostState } from './host-state.ts';
import { type MergeLedger, withLedger } from './rules-of-merges.ts';

const START = Date.parse('2026-03-01T00:00:00Z');

/** A worker's data of a claim, including the token. */
export interface Held {
  worker: string;
  task: ClaimedTask;
  /** Cumulative reported cost in USD of its one model call. */
  costUsd: number;
  /** The last report or failure it sent, to be repeated. */
  said?: { kind: 'report'; body: Report } | { kind: 'fail'; message: string; costUsd: number };
  /** The worker still works on the task. */
  working: boolean;
}

/** The system under test: the pipeline, its store and its clock, with a host and workers driven by the steps. */
export interface World {
  database: TestDatabase;
  tenantId: number;
  host: ModelHost;
  acts: Acts;
  workers: string[];
  held: Held[];
  /** Reported cost of each claim: the ledger that the store is compared with. */
  costs: Map<string, number>;
  ledger: MergeLedger;
  shas: number;
}

/**
 * Deletes everything but the schema and the sequences: a run starts with an empty store, so loops see no other data.
 */
const TABLES = [
  ...[
    'projection_attempts',
    'projections',
    'dead_letters',
    'webhook_deliveries',
    'retrospectives',
    'repo_scans',
    'tasks',
    'runs',
    'agent_invocations',
  ],
  ...['artefacts', 'cost_events', 'issue_events', 'pipeline_events', 'agent_messages', 'stream_outbox', 'transitions'],
  ...['intelligence_embeddings', 'intelligence_evidence', 'intelligence_scopes', 'intelligence_items'],
  ...['finding_sightings', 'alert_deliveries', 'alerts', 'stream_events'],
  ...[
    'review_comments',
    'seen_remarks',
    'findings',
    'pull_requests',
    'issue_edges',
    'issue_host_facts',
    'issues',
    'worker_periods',
  ],
  ...['workers', 'repo_sync', 'workflow_snapshots', 'issue_list', 'issue_counts', 'issue_count_deltas'],
  ...['rollup_deltas', 'state_minutes', 'stay_hours', 'transition_counts', 'task_counts', 'cost_sums', 'event_counts'],
];

/** The inputs of acts: an empty store, the repo and its host. */
export interface Stage {
  database: TestDatabase;
  engine: Engine;
  tenantId: number;
  repo: RepoRow;
  host: ModelHost;
}

interface Beginning {
  start?: Date;
  /** The interface of all actions; by default in this process. */
  actsOn?: (stage: Stage) => Acts;
}

/** A run begins with an empty store, two issues and two workers. */
export async function makeWorld(
  database: TestDatabase,
  { start = new Date(START), actsOn = engineActs }: Beginning = {},
): Promise<World> {
  database.clock.now = start;
  await sql.raw(TABLES.map((table) => `delete from ${table}`).join(';')).execute(database.db);
  const settings: Settings = { ...DEFAULT_SETTINGS };
  const engine: Engine = {
    store: database.store,
    notify: () => undefined,
    settings: () => settings,
    random: () => 0.5,
  };
  const slug = { owner: 'acme', name: 'model' };
  const tenantId = await ensureTenant(database.store.tenant, 'model');
  const repo = await putRepo(engine, tenantId, {
    slug,
    vcsHost: 'sandbox',
    cloneUrl: 'http://127.0.0.1/acme/model.git',
    defaultBranch: 'main',
    setupCommand: null,
    poolSize: null,
    installationId: null,
    enabled: true,
    checks: 'none',
  });
  const host = new ModelHost(new HostState(slug, () => new Date(database.clock.now ?? start)));
  const stage: Stage = { database, engine, tenantId, repo, host };
  const ledger: MergeLedger = { approved: new Set(), dismissed: new Set(), breaches: [] };
  const acts = withLedger(actsOn(stage), stage, ledger);
  const workers = [await acts.register('w1'), await acts.register('w2')];
  for (const title of ['First', 'Second']) {
    const { number } = host.state.openIssue({ title, body: 'Do it.', labels: [] }, 'alice');
    host.state.label(number, { add: [ENQUEUE_LABEL] }, 'anna');
  }
  await acts.deliver(host.state.webhooks.splice(0));
  return { database, tenantId, host, acts, workers, held: [], costs: new Map(), ledger, shas: 0 };
}

export function pass({ database }: World, seconds: number): void {
  database.clock.now = new Date((database.clock.now?.getTime() ?? START) + seconds * 1_000);
}

export const nextSha = (world: World): string => {
  world.shas += 1;
  return `abc${String(world.shas).padStart(5, '0')}`;
};

/** The only model call of a claim, with its cost so far. A cost of 0 is unreported. */
export function invocations(world: Pick<World, 'costs'>, held: Held, costUsd: number): Invocation[] {
  const before = world.costs.get(held.task.claimToken) ?? 0;
  world.costs.set(held.task.claimToken, Math.max(before, costUsd));
  const used = Math.min(1, costUsd);
  const tokens = { inputTokens: used, outputTokens: used, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const reported = costUsd === 0 ? null : costUsd;
  return [{ index: 0, model: 'm', provider: 'p', ...tokens, turns: 1, costUsd: reported, stopReason: 'completed' }];
}

export interface Seen {
  id: number;
  number: number;
  state: State;
  paused: boolean;
  blocked: boolean;
}

/** Runs after every step, so it is prepared. */
const allIssues = prepared('model-issues', (db) =>
  db.selectFrom('issues').select(['id', 'issue_number', 'state', 'is_paused', 'is_blocked']).orderBy('issue_number'),
);

/** The issues in the store, by number. */
export async function issuesOf({ database }: World): Promise<Map<number, Seen>> {
  const rows = await allIssues.all(database.db, {});
  return new Map(
    rows.map((row) => [
      row.issue_number,
      { id: row.id, number: row.issue_number, state: row.state, paused: row.is_paused, blocked: row.is_blocked },
    ]),
  );
}

export const WORKFLOW = DEFAULT_WORKFLOW;

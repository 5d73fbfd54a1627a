import { DEFAULT_SETTINGS, DEFAULT_WORKFLOW, ENQUEUE_LABEL, type Settings, withPlanApproval } from '@pipeline/domain';
import { admin, type Engine, putRepo } from '@pipeline/engine';
import { ensureTenant } from '@pipeline/store';
import { sql } from 'kysely';
import type { TestDatabase } from '../../databases/interface.ts';
import { engineActs } from '../engine/engine-acts.ts';
import { ModelHost } from '../host/host.ts';
import { HostState } from '../host/state.ts';
import { withLedger } from '../rules/merges.ts';
import type { Acts } from './acts.ts';
import type { MergeLedger, Stage, World } from './world.ts';

const START = Date.parse('2026-03-01T00:00:00Z');

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
    'issue_plans',
    'issues',
    'worker_periods',
  ],
  ...['workers', 'repo_sync', 'workflow_snapshots', 'issue_list', 'issue_counts', 'issue_count_deltas'],
  ...[
    'closed_facts',
    'late_costs',
    'state_minutes',
    'stay_hours',
    'transition_counts',
    'task_counts',
    'cost_sums',
    'event_counts',
  ],
];

interface Beginning {
  start?: Date;
  /** The interface of all actions; by default in this process. */
  actsOn?: (stage: Stage) => Acts;
  /** True = plans wait for the approval of a person. */
  approvesPlans?: boolean;
}

/** A run begins with an empty store, two issues and two workers. */
export async function makeWorld(
  database: TestDatabase,
  { start = new Date(START), actsOn = engineActs, approvesPlans = false }: Beginning = {},
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
  const tenantId = await ensureTenant(database.store.db, 'model');
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
  const mode = approvesPlans ? 'required' : 'off';
  const by = { engine, actor: 'olga', reason: null };
  if (approvesPlans) await admin.setPlanApproval(by, { repo: 'acme/model', org: null }, mode);
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
  const workflow = withPlanApproval(DEFAULT_WORKFLOW, mode);
  return { database, tenantId, workflow, host, acts, workers, held: [], costs: new Map(), ledger, shas: 0 };
}

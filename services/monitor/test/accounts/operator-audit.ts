import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { monitorSurface } from '@pipeline/contract';
import type { HostIssue, VcsHost } from '@pipeline/domain';
import { claim, registerWorker } from '@pipeline/engine';
import {
  activeSnapshotVersion,
  auditEntries,
  ensureTenant,
  insertPlan,
  inTransaction,
  recordFindings,
  updateIssue,
} from '@pipeline/store';
import { sql } from 'kysely';
import { readDeadLetters } from '../../src/dead-letters/dead-letter-cache.ts';
import { ListCache } from '../../src/polling/list-cache.ts';
import { ENVELOPE, propose } from '../strategy/strategy-world.ts';
import { addDeadLetter, admit, type Bench, IMPOSSIBLE, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { finding as agentFinding } from '../workers/agent-work.ts';
import { database } from './database.ts';

describe('the audit of operators', () => {
  const WHY = '  Anna asked for it: "now", she said. ';
  const SUCCESSOR = '0198c5a4-7c1e-7000-8000-000000000009';
  const START = Date.parse('2026-03-01T00:00:00Z');
  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;
  let number = 0;
  let issueId = 0;

  const host = {
    getIssue: async (_repo, wanted) =>
      ({ number: wanted, state: 'open', labels: [] }) as Partial<HostIssue> as HostIssue,
  } as Partial<VcsHost> as VcsHost;

  beforeAll(async () => {
    bench = await makeBench(database.store, 'Acme/Shop');
    const deadLetters = new ListCache(
      () => readDeadLetters(database.store.db),
      () => new Date(),
    );
    await newItem('successor', 'approved', SUCCESSOR);
    ({ call, close } = await serveConnected({ engine: bench.engine, deadLetters, hostOf: () => host }));
  });
  afterAll(() => close());

  beforeEach(async () => {
    database.clock.now = new Date(START);
    number += 1;
    issueId = await admit(bench, number);
  });

  const put = (change: Parameters<typeof updateIssue>[3]) =>
    updateIssue(database.db as never, bench.tenantId, issueId, change);
  const onIssue = (action: string) => async () => `/api/issues/acme/shop/${number}/${action}`;
  const onPendingPlan = (answer: string) => async () => {
    await put({ state: 'human-review-ready', plan: 'Do it.', plan_version: 1, plan_status: 'pending' });
    const plan = { version: 1, editsVersion: null, authorType: 'agent' as const, author: 'planner' };
    const key = { tenantId: bench.tenantId, issueId };
    await inTransaction(database.store.db, (tx) => insertPlan(tx, key, { ...plan, body: 'Do it.', plannedFiles: [] }));
    return onIssue(`plan/${answer}`)();
  };
  const projection = async () => {
    const rows = await database.db.selectFrom('projections').select('id').where('issue_id', '=', issueId).execute();
    return rows[0]?.id ?? 0;
  };
  const newDeadLetter = (cause?: Parameters<typeof addDeadLetter>[2]) => {
    number += 1;
    return addDeadLetter(bench, number, cause);
  };
  const finding = (kind: string) => encodeURIComponent(`${kind}:Acme/Shop#${number}`);
  async function newFinding(): Promise<string> {
    const owner = { runId: 1, repoId: bench.repo.id, issueId, prId: null, prNumber: null, agent: 'reviewer' };
    const found = agentFinding({ title: `Finding of ${'x'.repeat(number)}` });
    const [kept] = await inTransaction(database.store.db, (tx) => recordFindings(tx, bench.tenantId, owner, [found]));
    return kept?.id ?? '';
  }
  async function newItem(title: string, status: string, id?: string): Promise<string> {
    const { rows } = await sql<{ id: string }>`
    insert into intelligence_items (tenant_id, id, repo_id, kind, title, summary, status, source, metadata, fingerprint)
    values (${bench.tenantId}, coalesce(${id ?? null}::uuid, gen_random_uuid()), ${bench.repo.id}, 'invariant', ${title},
      '', ${status}, 'report', '{}', gen_random_uuid()::text) returning id`.execute(database.db);
    return rows[0]?.id ?? '';
  }
  const worker = (tenantId = bench.tenantId) =>
    registerWorker(bench.engine, tenantId, {
      name: `w${number}`,
      hostname: '',
      version: '',
      repos: [],
      taskTypes: ['analyze'],
      labels: {},
    });
  const edge = (kind: 'subtask' | 'depends_on', child: number, parent: number) =>
    sql`
    insert into issue_edges (tenant_id, kind, child_repo_id, child_issue_number, parent_repo_id, parent_issue_number)
    values (${bench.tenantId}, ${kind}, ${bench.repo.id}, ${child}, ${bench.repo.id}, ${parent})`.execute(database.db);
  const proposed = async () => {
    const key = { tenantId: bench.tenantId, repoId: bench.repo.id };
    return propose(bench, [], { parentVersion: await activeSnapshotVersion(database.store.db, key) });
  };
  const TRACK = { repo: 'acme/shop', name: 'tests' };
  const onTrack = (path: string) => async () => {
    await call('POST', '/api/tracks', { body: TRACK });
    await call('POST', '/api/tracks/acme/shop/tests/prompts', { body: {} });
    return `/api/tracks/acme/shop/tests${path}`;
  };
  const since = async () => {
    const { rows } = await sql<{ last: number }>`select coalesce(max(id), 0) as last from pipeline_events`.execute(
      database.db,
    );
    return rows[0]?.last ?? 0;
  };

  /** Operation of the contract -> the action in the audit log, its preparation, and further input. */
  const ACTIONS: readonly [id: string, action: string, ready: () => Promise<string>, body?: Record<string, unknown>][] =
    [
      ['pauseIssue', 'pause', onIssue('pause')],
      ['resumeIssue', 'resume', onIssue('resume')],
      [
        'unblockIssue',
        'unblock',
        async () => {
          await put({ state: 'failure-blocked', is_blocked: true, blocked_from_state: 'planning' });
          return onIssue('unblock')();
        },
      ],
      ['retryIssue', 'retry', onIssue('retry')],
      ['cancelIssue', 'cancel', onIssue('cancel')],
      ['acceptIssueText', 'accept-text', onIssue('accept-text')],
      ['allowUncheckedMerge', 'allow-unchecked-merge', onIssue('allow-unchecked-merge')],
      ['approvePlan', 'plan-approve', onPendingPlan('approve'), { version: 1 }],
      ['rejectPlan', 'plan-reject', onPendingPlan('reject'), { version: 1 }],
      ['transitionIssue', 'transition', onIssue('transition'), { targetState: 'planning' }],
      ['actOnIssues', 'bulk-pause', async () => '/api/issues/actions', { action: 'pause', dryRun: false }],
      ['retryDeadLetter', 'dead-letter-retry', async () => `/api/dead-letters/${await newDeadLetter()}/retry`],
      [
        'retryDeadLetter',
        'dead-letter-retry',
        async () => `/api/dead-letters/${await newDeadLetter(IMPOSSIBLE)}/retry`,
      ],
      ['resolveDeadLetter', 'dead-letter-resolve', async () => `/api/dead-letters/${await newDeadLetter()}/resolve`],
      [
        'resolveAllDeadLetters',
        'dead-letter-resolve',
        async () => {
          const id = await newDeadLetter();
          // The list is read again after each action.
          await call('POST', '/api/dead-letters/0198c5a4-7c1e-7000-8000-000000000001/resolve');
          void id;
          return '/api/dead-letters/resolve-all';
        },
      ],
      ['retryProjection', 'projection-retry', async () => `/api/projections/${await projection()}/retry`],
      ['discardProjection', 'projection-discard', async () => `/api/projections/${await projection()}/discard`],
      [
        'clearFlag',
        'clear-flag',
        async () => {
          await put({ is_blocked: true });
          return `/api/consistency/${finding('stale_blocked')}/clear-flag`;
        },
      ],
      [
        'resolveSubtaskEdges',
        'resolve-subtask-edges',
        async () => {
          await put({ state: 'done' });
          await edge('subtask', 9_000 + number, number);
          return `/api/consistency/${finding('stale_subtask_edge')}/resolve-subtask-edges`;
        },
      ],
      [
        'enqueueOrphan',
        'enqueue-orphan',
        async () => {
          number += 1;
          return `/api/consistency/${finding('orphan_missing_from_pg')}/enqueue-orphan`;
        },
      ],
      [
        'linkSi',
        'link-si',
        async () => {
          await put({ state: 'done' });
          await sql`
        insert into si_issues (tenant_id, repo_id, issue_number, track_name)
        values (${bench.tenantId}, ${bench.repo.id}, ${number}, 'docs')`.execute(database.db);
          return `/api/consistency/${finding('si_linkage_gap')}/link-si`;
        },
      ],
      [
        'deleteOrphanEdges',
        'delete-orphan-edges',
        async () => {
          await edge('depends_on', number, 8_000 + number);
          return `/api/consistency/${finding('orphan_dependency_edge')}/delete-orphan-edges`;
        },
      ],
      ...(['accept', 'resolve', 'dismiss'] as const).map((move): (typeof ACTIONS)[number] => [
        `${move}Finding`,
        `finding-${move}`,
        async () => `/api/findings/${await newFinding()}/${move}`,
      ]),
      [
        'reopenFinding',
        'finding-reopen',
        async () => {
          const id = await newFinding();
          await call('POST', `/api/findings/${id}/resolve`);
          return `/api/findings/${id}/reopen`;
        },
      ],
      ...(
        [
          ['approve', 'proposed'],
          ['dismiss', 'candidate'],
          ['supersede', 'approved'],
        ] as const
      ).map(([move, status]): (typeof ACTIONS)[number] => [
        `${move}Intelligence`,
        `intelligence-${move}`,
        async () => `/api/intelligence/${await newItem('x', status)}/${move}`,
        move === 'supersede' ? { supersededBy: SUCCESSOR } : {},
      ]),
      ['drainWorker', 'worker-drain', async () => `/api/workers/${await worker()}/drain`, { drain: true }],
      ['drainWorker', 'worker-resume', async () => `/api/workers/${await worker()}/drain`, { drain: false }],
      [
        'reclaimWorker',
        'worker-reclaim',
        async () => {
          const workerId = await worker();
          await claim(bench.engine, { tenantId: bench.tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
          database.clock.now = new Date(START + 3_600_000);
          return `/api/workers/${workerId}/reclaim`;
        },
      ],
      ...(['approve', 'reject'] as const).map((verb): (typeof ACTIONS)[number] => [
        `${verb}StrategySnapshot`,
        `strategy-${verb}`,
        async () => `/api/strategy/acme/shop/snapshots/${await proposed()}/${verb}`,
      ]),
      [
        'putStrategyCharter',
        'strategy-charter',
        async () => '/api/strategy/acme/shop/charter',
        { goals: 'Better', envelope: ENVELOPE },
      ],
      ['putTrack', 'track-create', async () => '/api/tracks', TRACK],
      ['putTrack', 'track-update', async () => '/api/tracks', { ...TRACK, label: 'x' }],
      ['updateTrack', 'track-update', onTrack(''), { weight: 2 }],
      ['disableTrack', 'track-disable', onTrack('/disable')],
      ['enableTrack', 'track-enable', onTrack('/enable')],
      ['setTrackCooldown', 'track-cooldown', onTrack('/cooldown'), { cooldown_minutes: 5 }],
      ['createTrackPrompt', 'track-prompt-create', onTrack('/prompts'), { seed_title: 'Tests' }],
      ['activateTrackPrompt', 'track-prompt-activate', onTrack('/prompts/1/activate')],
      ['deleteTrack', 'track-delete', onTrack('')],
      [
        'putStrategyAutomation',
        'strategy-automation',
        async () => '/api/strategy/acme/shop/automation',
        { enabled: true },
      ],
    ];
  /** Not of one repo: what becomes of it in the log is among the tests of reloads. */
  const ELSEWHERE = ['reloadConfig', 'addRepo', 'enableRepo', 'disableRepo', 'removeRepo'];
  const METHODS = new Map<string, string>(monitorSurface.routes.map(({ id, method }) => [id, method.toUpperCase()]));

  describe('every action of an operator is in the log with who, what, when and why', () => {
    const rows = ACTIONS.map(([id, action, ready, body = {}]) => [id, action, ready, body] as const);
    test.each(rows)('%s: %s', async (id, action, ready, body) => {
      const path = await ready();
      const before = await since();
      const filter = id === 'actOnIssues' && { filter: { repo: 'acme/shop', issueNumbers: [number] } };
      const answer = await call(METHODS.get(id) ?? '', path, { body: { ...body, ...filter, reason: WHY } });
      expect([answer.status, answer.text]).toEqual([200, expect.stringMatching(/"ok":true|"version":\d/)]);
      const entries = await database.db
        .selectFrom('pipeline_events')
        .select(['agent', 'payload', 'created_at'])
        .where('id', '>', before)
        .where('event_type', '=', 'operator_action')
        .execute();
      expect(entries).toContainEqual({
        agent: 'olga',
        payload: expect.objectContaining({ action, actorId: 'olga', reason: WHY }),
        created_at: database.clock.now?.toISOString(),
      });
    });

    test('a worker of a tenant without repos: in the log of the deployment', async () => {
      const id = await worker(await ensureTenant(database.db, 'nothing-yet'));
      await call('POST', `/api/workers/${id}/drain`, { body: { drain: true, reason: WHY } });
      expect(await auditEntries(database.db, 1)).toMatchObject([
        { actor_type: 'operator', actor_id: 'olga', action: 'worker-drain', subject: `worker ${id}`, reason: WHY },
      ]);
    });

    test('no action of the contract is missing here', () => {
      const acting = monitorSurface.routes.filter(({ method, auth }) => method !== 'get' && auth === 'operator');
      const shown = new Set([...ACTIONS.map(([id]) => id), ...ELSEWHERE]);
      expect(acting.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
    });
  });

  afterAll(() => database.clear());
});

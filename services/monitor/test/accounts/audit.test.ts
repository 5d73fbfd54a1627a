import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { monitorSurface } from '@pipeline/contract';
import type { HostIssue, VcsHost } from '@pipeline/domain';
import { claim, loginAudit, registerWorker } from '@pipeline/engine';
import { silentLogger } from '@pipeline/runtime';
import {
  activeSnapshotVersion,
  auditEntries,
  ensureTenant,
  insertAuditEntry,
  insertPlan,
  inTransaction,
  recordFindings,
  updateIssue,
} from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { createAuthentication } from '../../src/auth/authentication.ts';
import { readDeadLetters } from '../../src/features/dead-letters.ts';
import { ListCache } from '../../src/polling/list-cache.ts';
import { ENVELOPE, propose } from '../strategy/strategy-world.ts';
import { addDeadLetter, admit, type Bench, IMPOSSIBLE, makeBench } from '../support/bench.ts';
import { type Call, OLGA, serveApp, serveConnected } from '../support/served-app.ts';
import { finding as agentFinding } from '../workers/agent-work.ts';

const database = testDatabase();

describe('the audit log of the API', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  const FORMULA = '=HYPERLINK("https://example.org","x"), then "quoted"\nand a second line';
  let bench: Bench;
  let call: Call;
  let close: () => Promise<void>;

  interface Entry {
    id: string;
    at: string;
    actor: string;
    action: string;
    target: string;
    reason: string | null;
  }
  interface Page {
    items: Entry[];
    next: string | null;
  }

  const at = (minute: number) => new Date(START + minute * 60_000);
  const list = async (query = ''): Promise<Page> => (await call('GET', `/api/audit${query}`)).json as Page;
  const actionsOf = ({ items }: Page) => items.map(({ action, target }) => `${action} ${target}`);

  async function log(minute: number, entry: { actor: string; action: string; subject: string; reason?: string }) {
    database.clock.now = at(minute);
    await inTransaction(database.store.tenant, (tx) =>
      insertAuditEntry(tx, {
        actorType: 'operator',
        actorId: entry.actor,
        action: entry.action,
        subject: entry.subject,
        reason: entry.reason ?? null,
        details: { minute },
      }),
    );
  }

  /** Minutes 1 to 4: an action on issue 1, one of the log, two of the same time in both sources. */
  beforeAll(async () => {
    bench = await makeBench(database.store, 'Acme/Shop');
    ({ call, close } = await serveConnected({ engine: bench.engine }));
    database.clock.now = at(0);
    await admit(bench, 1);
    await admit(bench, 2);
    database.clock.now = at(1);
    await call('POST', '/api/issues/acme/shop/1/pause', { body: { reason: FORMULA } });
    await log(2, { actor: 'anna', action: 'user-create', subject: 'user bob', reason: 'new colleague' });
    database.clock.now = at(3);
    await call('POST', '/api/issues/acme/shop/2/pause', { body: {} });
    await log(3, { actor: '+anna', action: 'user-disable', subject: 'user bob' });
    database.clock.now = at(9);
  });
  afterAll(() => close());

  const ALL = ['user-disable user bob', 'pause Acme/Shop#2', 'user-create user bob', 'pause Acme/Shop#1'];

  describe('the audit', () => {
    test('lists the actions of both sources, newest first, with actor, time and reason', async () => {
      const page = await list();
      expect([actionsOf(page), page.next]).toEqual([ALL, null]);
      expect(page.items.at(-1)).toMatchObject({
        at: at(1).toISOString(),
        actorType: 'operator',
        actor: 'olga',
        repo: 'Acme/Shop',
        issueNumber: 1,
        reason: FORMULA,
      });
      expect(page.items[2]).toMatchObject({ actor: 'anna', repo: null, issueNumber: null, details: { minute: 2 } });
    });

    test.each([1, 2, 3])('returns every action once when the pages have %d entries', async (limit) => {
      const seen: string[] = [];
      for (let page = await list(`?limit=${limit}`); ; page = await list(`?limit=${limit}&after=${page.next}`)) {
        seen.push(...actionsOf(page));
        expect(page.items.length).toBeLessThanOrEqual(limit);
        if (page.next === null) break;
      }
      expect(seen).toEqual(ALL);
    });

    test.each([
      ['actor=olga', ['pause Acme/Shop#2', 'pause Acme/Shop#1']],
      ['action=user-create', ['user-create user bob']],
      ['target=acme/shop', ['pause Acme/Shop#2', 'pause Acme/Shop#1']],
      ['target=acme/shop%231', ['pause Acme/Shop#1']],
      ['target=user%20bob', ['user-disable user bob', 'user-create user bob']],
      ['target=acme/other', []],
      [`since=${at(2).toISOString()}&until=${at(3).toISOString()}`, ['user-create user bob']],
      ['actor=olga&action=pause&target=acme/shop%232', ['pause Acme/Shop#2']],
    ])('returns the matching actions when the query is %s', async (query, expected) => {
      expect(actionsOf(await list(`?${query}`))).toEqual(expected);
    });

    test.each(['after=x', 'after=2026-02-31T10:00:00.000000Z~log~1', 'since=soon', 'limit=x', 'actor='])(
      'returns 400 when the query is %s',
      async (query) => {
        expect((await call('GET', `/api/audit?${query}`)).status).toBe(400);
      },
    );

    test('returns 401 when the caller is not logged in', async () => {
      const headers = { authorization: '' };
      expect((await call('GET', '/api/audit', { headers })).status).toBe(401);
      expect((await call('GET', '/api/audit/export?format=csv', { headers })).status).toBe(401);
    });
  });

  describe('the export of the audit', () => {
    test('is CSV whose formulas are texts when the format is csv', async () => {
      const { status, headers, text } = await call('GET', '/api/audit/export?format=csv');
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="audit-[\d-]{10}\.csv"$/);
      const [head, ...rows] = text.split('\r\n');
      expect(head).toBe('at,actorType,actor,action,target,reason,details,id');
      expect(rows).toHaveLength(ALL.length + 1);
      expect(text).toContain(`,'+anna,user-disable,`);
      expect(text).toContain(`"'${FORMULA.replaceAll('"', '""')}"`);
    });

    test('is the list of the API when the format is json', async () => {
      const { text } = await call('GET', '/api/audit/export?format=json&actor=olga');
      expect(JSON.parse(text)).toEqual((await list('?actor=olga')).items);
    });

    test('is an empty list when no action matches', async () => {
      expect(JSON.parse((await call('GET', '/api/audit/export?format=json&actor=nobody')).text)).toEqual([]);
    });

    test('has every action once when it needs several pages', async () => {
      await database.db
        .insertInto('audit_log')
        .values(
          Array.from({ length: 1_100 }, (_, index) => ({
            at: at(20 + (index % 7)).toISOString(),
            actor_type: 'operator',
            actor_id: 'many',
            action: 'test',
            subject: `user ${index}`,
            reason: null,
            details: '{}' as never,
          })),
        )
        .execute();
      const { text } = await call('GET', '/api/audit/export?format=json&actor=many');
      const subjects = (JSON.parse(text) as Entry[]).map(({ target }) => target);
      expect([subjects.length, new Set(subjects).size]).toEqual([1_100, 1_100]);
    });

    test('returns 400 when the format is unknown', async () => {
      expect((await call('GET', '/api/audit/export?format=xml')).status).toBe(400);
    });
  });

  afterAll(() => database.clear());
});

describe('the audit of logins', () => {
  const basic = (username: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  });

  let time = Date.parse('2026-03-01T12:00:00Z');
  const now = () => new Date(time);
  let isStoreReady = true;
  let served: Awaited<ReturnType<typeof serveApp>>;

  const audit = () =>
    loginAudit({
      store: database.store,
      ...({ service: 'monitor', storeReady: () => isStoreReady, log: silentLogger, now } as const),
    });
  const entries = async () => (await auditEntries(database.db, 1_000)).reverse();

  beforeEach(async () => {
    isStoreReady = true;
    await database.db.deleteFrom('audit_log').execute();
    const auth = createAuthentication({ logins: [OLGA], loginAttempts: 3, onLoginFailure: audit(), now });
    served = await serveApp({ auth, now });
  });
  afterEach(() => served.close());

  const login = (username: string, password: string) =>
    served.call('POST', '/api/auth/login', { body: { username, password } });
  const get = (username: string, password: string) =>
    served.call('GET', '/api/dead-letters', { headers: basic(username, password) });

  test('records failed logins of both kinds with the name, and the first refusal of a window', async () => {
    expect((await login('olga', 'secret-1')).status).toBe(401);
    expect((await get('olga', 'secret-2')).status).toBe(401);
    expect((await get(`\u202e\u0007eve ${'x'.repeat(300)}`, 'secret-3')).status).toBe(401);
    expect((await get('olga', 'secret-4')).status).toBe(401);
    for (let n = 0; n < 5; n += 1) expect((await get('olga', OLGA.password)).status).toBe(429);
    const all = await entries();
    expect(all.map(({ action, subject }) => [action, subject])).toEqual([
      ['login-failed', 'user olga'],
      ['login-failed', 'user olga'],
      ['login-failed', `user eve ${'x'.repeat(95)}…`],
      ['login-failed', 'user olga'],
      ['login-limited', 'user olga'],
    ]);
    expect(all[0]).toMatchObject({
      actor_type: 'system',
      actor_id: 'monitor',
      details: { address: '127.0.0.1' },
      reason: 'wrong name or password, from 127.0.0.1',
    });
    expect(JSON.stringify(all)).not.toContain('secret');
  });

  test('records nothing for logins that succeed and for requests without credentials', async () => {
    expect((await login('olga', OLGA.password)).status).toBe(200);
    expect((await get('olga', OLGA.password)).status).toBe(503);
    expect((await served.call('GET', '/api/dead-letters')).status).toBe(401);
    expect(await entries()).toEqual([]);
  });

  test('answers as always when the store is away or the entry cannot be written', async () => {
    isStoreReady = false;
    expect((await login('olga', 'wrong')).status).toBe(401);
    isStoreReady = true;
    const away = database.open({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' });
    const record = loginAudit({
      ...({ store: away, service: 'monitor', storeReady: () => true, log: silentLogger, now } as const),
    });
    await record({ kind: 'failed', name: 'olga', address: '::1' });
    await away.close();
    expect(await entries()).toEqual([]);
  });

  test('writes at most 300 entries in five minutes, however many addresses guess', async () => {
    const record = audit();
    const failure = { kind: 'failed', name: 'x', address: '203.0.113.1' } as const;
    for (let n = 0; n < 310; n += 1) await record(failure);
    expect(await entries()).toHaveLength(300);
    time += 300_000;
    await record(failure);
    expect(await entries()).toHaveLength(301);
  });

  afterAll(() => database.clear());
});

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
      () => readDeadLetters(database.store.fleet),
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
    await inTransaction(database.store.tenant, (tx) =>
      insertPlan(tx, key, { ...plan, body: 'Do it.', plannedFiles: [] }),
    );
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
    const [kept] = await inTransaction(database.store.tenant, (tx) =>
      recordFindings(tx, bench.tenantId, owner, [found]),
    );
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
    return propose(bench, [], { parentVersion: await activeSnapshotVersion(database.store.tenant, key) });
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

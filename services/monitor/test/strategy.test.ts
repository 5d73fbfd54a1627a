import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { removeTrack, updateTrackAt } from '@pipeline/engine';
import { ensureTenant, tracksOfRepo } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { type Bench, makeBench } from './bench.ts';
import { type Answer, type Call, serveApp, serveConnected } from './served-app.ts';
import { at, BASE, ENVELOPE, makeTrack, propose, type Snapshot, weight } from './strategy-world.ts';

const database = testDatabase();
const START = new Date('2026-03-04T05:06:07.000Z');
const CHARTER = { goals: 'Fewer blocked issues', envelope: ENVELOPE };
let bench: Bench;
let call: Call;
let close: () => Promise<void>;

beforeAll(async () => {
  database.clock.now = START;
  bench = await makeBench(database.store, 'Acme/Shop');
  ({ call, close } = await serveConnected({ engine: bench.engine }));
});
afterAll(() => close());
afterEach(async () => {
  database.clock.now = START;
  for (const table of [
    'strategy_snapshots',
    'strategy_charters',
    'strategy_automation',
    'strategy_runs',
    'tracks',
  ] as const)
    await database.db.deleteFrom(table).execute();
});

const get = async (path: string) => (await call('GET', `${BASE}${path}`)).json as never as Record<string, never>;
const read = async (version: number) => (await get(`/snapshots/${version}`)).snapshot as never as Snapshot;
const list = async (query = '') =>
  ((await get(`/snapshots${query}`)).items as never as Snapshot[]).map(({ version }) => version);
const approve = (version: number | string, body?: unknown) =>
  call('POST', `${BASE}/snapshots/${version}/approve`, { body });
const reject = (version: number | string, body?: unknown) =>
  call('POST', `${BASE}/snapshots/${version}/reject`, { body });
const putCharter = (body: unknown) => call('PUT', `${BASE}/charter`, { body });
const weightOf = async (name: string) =>
  (await tracksOfRepo(database.store.tenant, { tenantId: bench.tenantId, repoId: bench.repo.id })).find(
    (track) => track.name === name,
  )?.weight;
const events = async (type: string) =>
  (
    await database.db
      .selectFrom('pipeline_events')
      .select('payload')
      .where('event_type', '=', type)
      .orderBy('id')
      .execute()
  ).map(({ payload }) => payload);
const refused = ({ status, json }: Answer) => [
  status,
  (json as { code: string }).code,
  (json as { error: string }).error,
];

describe('charters', () => {
  test('there is none at first; each PUT is in force as the next version', async () => {
    expect(await get('/charter')).toEqual({ charter: null });
    expect((await putCharter(CHARTER)).json).toEqual({ ok: true, version: 1 });
    const envelope = { max_auto_size: 'epic', prefer: ['tests'], avoid: ['ui'], escalate_when: ['security'] };
    const second = await putCharter({ goals: 'Faster', envelope, author: 'anna', reason: 'it is slow' });
    expect(second.json).toEqual({ ok: true, version: 2 });
    expect(await get('/charter')).toEqual({
      charter: { version: 2, goals: 'Faster', envelope, author: 'anna', created_at: START.toISOString() },
    });
    const rows = await database.db
      .selectFrom('strategy_charters')
      .select(['version', 'author'])
      .orderBy('version')
      .execute();
    expect(rows).toEqual([
      { version: 1, author: 'operator' },
      { version: 2, author: 'anna' },
    ]);
    expect((await events('operator_action')).slice(-1)).toEqual([
      { action: 'strategy-charter', actorId: 'olga', reason: 'it is slow', version: 2, author: 'anna' },
    ]);
  });

  test('many at once get one version each', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => putCharter(CHARTER)));
    const versions = answers.map(({ json }) => (json as { version: number }).version);
    expect(versions.sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test.each([
    ['not JSON', '{"goals": ', 'INVALID_JSON', 'Invalid JSON body'],
    ['no goals', { envelope: ENVELOPE }, 'INVALID_BODY', 'goals is required'],
    ['goals that are no text', { goals: 3, envelope: ENVELOPE }, 'INVALID_BODY', /^goals: /],
    ['blank goals', { goals: '  ', envelope: ENVELOPE }, 'INVALID_BODY', 'goals: must not be blank'],
    ['goals before the envelope', { envelope: 3 }, 'INVALID_BODY', 'goals is required'],
    ['no envelope', { goals: 'x' }, 'INVALID_BODY', 'envelope is required'],
    [
      'another size',
      { goals: 'x', envelope: { ...ENVELOPE, max_auto_size: 'huge' } },
      'INVALID_BODY',
      /^envelope\.max_auto_size: /,
    ],
    [
      'no max_auto_size',
      { goals: 'x', envelope: { ...ENVELOPE, max_auto_size: undefined } },
      'INVALID_BODY',
      /^envelope\.max_auto_size/,
    ],
    [
      'no prefer',
      { goals: 'x', envelope: { ...ENVELOPE, prefer: undefined } },
      'INVALID_BODY',
      'envelope.prefer is required',
    ],
    [
      'avoid that is no list',
      { goals: 'x', envelope: { ...ENVELOPE, avoid: 'ui' } },
      'INVALID_BODY',
      /^envelope\.avoid: /,
    ],
    [
      'a name that is no text',
      { goals: 'x', envelope: { ...ENVELOPE, escalate_when: [1] } },
      'INVALID_BODY',
      /^envelope\.escalate_when\.0: /,
    ],
    [
      'a blank name',
      { goals: 'x', envelope: { ...ENVELOPE, prefer: [' '] } },
      'INVALID_BODY',
      'envelope.prefer.0: must not be blank',
    ],
    ['an unknown key', { goals: 'x', envelope: { ...ENVELOPE, autoApply: true } }, 'INVALID_BODY', /^envelope: /],
    ['an author that is no text', { ...CHARTER, author: 3 }, 'INVALID_BODY', /^author: /],
    ['text that cannot be kept', { ...CHARTER, goals: 'a\0b' }, 'INVALID_BODY', /^goals: must hold no NUL/],
    ['a list', [], 'INVALID_BODY', expect.any(String)],
  ])('are refused with %s', async (_what, body, code, text) => {
    const answer = await putCharter(body);
    const message = text instanceof RegExp ? expect.stringMatching(text) : text;
    expect(refused(answer)).toEqual([400, code, message]);
    expect(await get('/charter')).toEqual({ charter: null });
  });

  test('may weigh a mebibyte and no more', async () => {
    const body = (goals: string) => JSON.stringify({ ...CHARTER, goals });
    const room = 1024 * 1024 - body('').length;
    expect((await putCharter(body('g'.repeat(room)))).status).toBe(200);
    expect(refused(await putCharter(body('g'.repeat(room + 1))))).toEqual([
      413,
      'PAYLOAD_TOO_LARGE',
      'Request body larger than 1048576 bytes',
    ]);
  });
});

describe('snapshots', () => {
  test('are listed newest first, proposed and active ones unless asked for others', async () => {
    await makeTrack(bench, 'tests');
    expect(await get('/snapshots')).toEqual({ items: [], snapshot: true });
    const first = await propose(bench, [weight(1, 2)]);
    await approve(first);
    const second = await propose(bench, [weight(2, 3)], { parentVersion: first });
    await approve(second);
    const third = await propose(bench, [weight(3, 4)], { parentVersion: second });
    const fourth = await propose(bench, [], { parentVersion: second });
    await reject(fourth);
    expect([first, second, third, fourth]).toEqual([1, 2, 3, 4]);
    expect(await list()).toEqual([3, 2]);
    expect(await list('?status=proposed')).toEqual([3]);
    expect(await list('?status=active')).toEqual([2]);
    expect(await list('?status=superseded')).toEqual([1]);
    expect(await list('?status=approved')).toEqual([]);
    expect(await read(4)).toMatchObject({ version: 4, status: 'rejected' });
  });

  test.each(['rejected', 'open', '', 'proposed&status=active'])('no list of status "%s"', async (status) => {
    const answer = await call('GET', `${BASE}/snapshots?status=${status}`);
    expect(refused(answer)).toEqual([400, 'INVALID_INPUT', expect.stringMatching(/^status: .*superseded/)]);
  });

  test('one is read whole', async () => {
    const version = await propose(bench, [weight(1, 2)], {
      source: 'weekly',
      isoWeek: '2026-W10',
      charterVersion: 3,
      costUsd: 0.25,
    });
    expect(await read(version)).toEqual({
      version: 1,
      status: 'proposed',
      intent: 'More work on tests.',
      rationale: 'tests: it helps',
      parentVersion: null,
      charterVersion: 3,
      proposedBy: 'olga',
      createdAt: START.toISOString(),
      isoWeek: '2026-W10',
      source: 'weekly',
      changes: [weight(1, 2)],
      slate: [{ track: 'tests', size: 'small', count: 1 }],
      risk: { maxSize: 'small', withinEnvelope: true, violations: [], needsApproval: [] },
      evidence: [{ kind: 'kpi', ref: 'kpi:autonomy_rate', summary: 'autonomy_rate fell' }],
      approvedAt: null,
      approvedBy: null,
      activatedAt: null,
      supersededAt: null,
      supersededBy: null,
      rejectedAt: null,
      rejectionReason: null,
      costUsd: 0.25,
    });
  });

  const VERBS = [
    ['GET', ''],
    ['POST', '/approve'],
    ['POST', '/reject'],
  ] as const;

  test.each(VERBS)('%s %s: a version that is no integer is 400, one that is unknown 404', async (method, suffix) => {
    for (const version of ['abc', '1.5', '1x', '%20', '0x1', '1e3']) {
      const answer = await call(method, `${BASE}/snapshots/${version}${suffix}`);
      expect(refused(answer)).toEqual([400, 'INVALID_INPUT', 'version: must be an integer']);
    }
    for (const version of ['1', '0', '-1', '2147483648', '99999999999999999999']) {
      const answer = await call(method, `${BASE}/snapshots/${version}${suffix}`);
      expect(refused(answer)).toEqual([404, 'SNAPSHOT_NOT_FOUND', expect.stringMatching(/^Snapshot .* not found$/)]);
    }
  });
});

describe('approve', () => {
  test('lands in active, is applied to the tracks and supersedes the former', async () => {
    await makeTrack(bench, 'tests');
    await makeTrack(bench, 'docs', { weight: 2, proposal: [{ size: 'small', count: 1 }] });
    const first = await propose(bench, []);
    await approve(first);
    database.clock.now = new Date('2026-03-05T00:00:00.000Z');
    const slate = [{ size: 'medium' as const, count: 2, theme: 'guides' }];
    const second = await propose(
      bench,
      [
        weight(1, 1.5),
        { ...weight(2, 1, 'docs') },
        { ...weight(1, 1, 'docs'), field: 'proposal', from: [{ count: 1, size: 'small' }], to: slate },
      ],
      { parentVersion: first },
    );
    const answer = await approve(second, { approver: 'anna', reason: 'looks right' });
    expect([answer.status, answer.json]).toEqual([200, { ok: true }]);
    const now = '2026-03-05T00:00:00.000Z';
    expect(await read(second)).toMatchObject({
      status: 'active',
      approvedAt: now,
      approvedBy: 'anna',
      activatedAt: now,
      supersededAt: null,
    });
    expect(await read(first)).toMatchObject({
      status: 'superseded',
      approvedBy: 'operator',
      supersededAt: now,
      supersededBy: second,
    });
    expect([await weightOf('tests'), await weightOf('docs')]).toEqual([1.5, 1]);
    const tracks = await database.db.selectFrom('tracks').select(['name', 'proposal']).orderBy('name').execute();
    expect(tracks).toEqual([
      { name: 'docs', proposal: slate },
      { name: 'tests', proposal: null },
    ]);
    expect((await events('strategy_activated')).slice(-2)).toEqual([{ version: first }, { version: second }]);
    expect(await events('operator_action')).toContainEqual({
      action: 'strategy-approve',
      actorId: 'olga',
      reason: 'looks right',
      version: second,
      approver: 'anna',
    });
    expect(await events('operator_action')).toContainEqual({
      action: 'track-strategy',
      actorId: 'olga',
      reason: 'looks right',
      track: 'tests',
      version: second,
      changes: [{ field: 'weight', from: 1, to: 1.5 }],
    });
  });

  const unchanged = async (version: number) => {
    expect(await read(version)).toMatchObject({ status: 'proposed', approvedAt: null, approvedBy: null });
    expect(await list('?status=active')).toEqual([]);
    expect(await weightOf('tests')).toBe(1);
  };
  const stale = (version: number, why: string) => [
    422,
    'STRATEGY_APPLY_FAILED',
    `Snapshot ${version} cannot be applied: ${why}`,
  ];

  test('is refused when another snapshot became active since', async () => {
    await makeTrack(bench, 'tests');
    const [first, second] = [await propose(bench, []), await propose(bench, [weight(1, 2)])];
    await approve(first);
    expect(refused(await approve(second))).toEqual(
      stale(second, 'it was made on no snapshot, and snapshot 1 is active'),
    );
    expect(await read(second)).toMatchObject({ status: 'proposed' });
    expect([await weightOf('tests'), await list()]).toEqual([1, [2, 1]]);
  });

  test('is refused when its parent is not active any more', async () => {
    await makeTrack(bench, 'tests');
    const version = await propose(bench, [weight(1, 2)], { parentVersion: 7 });
    expect(refused(await approve(version))).toEqual(
      stale(version, 'it was made on snapshot 7, and no snapshot is active'),
    );
    await unchanged(version);
  });

  test('is refused whole when one track says something else by now, or is gone', async () => {
    for (const name of ['tests', 'zoo']) await makeTrack(bench, name);
    const version = await propose(bench, [weight(1, 2), weight(1, 2, 'zoo')]);
    const actor = { type: 'operator', id: 'anna', agent: null } as const;
    await updateTrackAt(bench.engine, { ...at, name: 'zoo' }, { weight: 5 }, { action: 'track-update', actor });
    expect(refused(await approve(version))).toEqual(stale(version, 'weight of track "zoo" is 5 by now, not 1'));
    await unchanged(version);
    await removeTrack(bench.engine, { ...at, name: 'zoo' }, actor);
    expect(refused(await approve(version))).toEqual(stale(version, 'track "zoo" is gone'));
    await unchanged(version);
  });

  test('is refused when the charter in force forbids it, and not for its size', async () => {
    await makeTrack(bench, 'tests', { proposal: [{ size: 'epic', count: 1, theme: 'rewrite' }] });
    const version = await propose(bench, [weight(1, 2)]);
    await putCharter({ ...CHARTER, envelope: { ...ENVELOPE, avoid: ['Rewrite'] } });
    expect(refused(await approve(version))).toEqual(
      stale(version, 'it is beyond the charter: tests weight: the charter avoids "Rewrite"'),
    );
    await unchanged(version);
    await putCharter({ ...CHARTER, envelope: { ...ENVELOPE, max_auto_size: 'small' } });
    expect((await approve(version)).status).toBe(200);
  });

  test.each([
    ['not JSON', '{', 'Invalid JSON body'],
    ['an approver that is no text', { approver: 3 }, /^approver: /],
    ['a blank approver', { approver: ' ' }, 'approver: must not be blank'],
    ['a list', [], expect.any(String)],
  ])('is refused with %s', async (_what, body, text) => {
    await makeTrack(bench, 'tests');
    const version = await propose(bench, [weight(1, 2)]);
    const message = text instanceof RegExp ? expect.stringMatching(text) : text;
    expect(refused(await approve(version, body))).toEqual([400, 'INVALID_INPUT', message]);
    await unchanged(version);
  });

  test.each(['active', 'superseded', 'rejected', 'approved'] as const)('%s: 422', async (status) => {
    const version = await propose(bench, []);
    await database.db.updateTable('strategy_snapshots').set({ status }).execute();
    expect(refused(await approve(version))).toEqual(stale(version, `it is ${status}, not proposed`));
    expect(refused(await reject(version))).toEqual([
      400,
      'INVALID_INPUT',
      `Snapshot ${version} is ${status}: only a proposed one can be rejected`,
    ]);
    expect(await read(version)).toMatchObject({ status, rejectionReason: null });
  });
});

describe('two operators at the same instant', () => {
  test('approve the same snapshot: one wins, the other gets 422', async () => {
    await makeTrack(bench, 'tests');
    let parentVersion: number | null = null;
    for (let round = 1; round <= 30; round += 1) {
      const version: number = await propose(bench, [weight(round, round + 1)], { parentVersion });
      const answers = await Promise.all([
        approve(version, { approver: 'anna' }),
        approve(version, { approver: 'bert' }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
      const winner = answers[0]?.status === 200 ? 'anna' : 'bert';
      const loser = answers.find(({ status }) => status === 422) as Answer;
      expect(refused(loser)).toEqual([
        422,
        'STRATEGY_APPLY_FAILED',
        `Snapshot ${version} cannot be applied: it is active, not proposed`,
      ]);
      expect(await read(version)).toMatchObject({ status: 'active', approvedBy: winner });
      expect([await weightOf('tests'), await list('?status=active')]).toEqual([round + 1, [version]]);
      parentVersion = version;
    }
    expect(
      (await events('strategy_activated')).slice(-30).map((payload) => (payload as { version: number }).version),
    ).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  });

  test('approve two snapshots of the same parent: one wins, the other is stale', async () => {
    await makeTrack(bench, 'tests');
    let parentVersion: number | null = null;
    for (let round = 0; round < 15; round += 1) {
      const now = (await weightOf('tests')) ?? 0;
      const both: number[] = [];
      for (const to of [now + 1, now + 2]) both.push(await propose(bench, [weight(now, to)], { parentVersion }));
      const answers = await Promise.all(both.map((version) => approve(version)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
      parentVersion = both[answers.findIndex(({ status }) => status === 200)] ?? null;
      expect(await list('?status=active')).toEqual([parentVersion]);
      expect(await weightOf('tests')).toBe(parentVersion === both[0] ? now + 1 : now + 2);
    }
  });

  test('one approves, the other rejects: one of both happens', async () => {
    await makeTrack(bench, 'tests');
    let parentVersion: number | null = null;
    for (let round = 0; round < 15; round += 1) {
      const version: number = await propose(bench, [], { parentVersion });
      const [approved, rejected] = await Promise.all([approve(version), reject(version)]);
      const { status } = await read(version);
      if (status === 'active') parentVersion = version;
      expect([approved?.status, rejected?.status, status]).toEqual(
        status === 'active' ? [200, 400, 'active'] : [422, 200, 'rejected'],
      );
    }
  });
});

describe('reject', () => {
  test('is for good, keeps the reason and touches no track', async () => {
    await makeTrack(bench, 'tests');
    const version = await propose(bench, [weight(1, 2)]);
    expect((await reject(version, { reason: ' too much ' })).json).toEqual({ ok: true });
    expect(await read(version)).toMatchObject({
      status: 'rejected',
      rejectedAt: START.toISOString(),
      rejectionReason: ' too much ',
    });
    expect([await weightOf('tests'), await list()]).toEqual([1, []]);
    expect((await events('operator_action')).slice(-1)).toEqual([
      { action: 'strategy-reject', actorId: 'olga', reason: ' too much ', version },
    ]);
  });

  test('needs no body; the reason is then unknown', async () => {
    const version = await propose(bench, []);
    expect((await reject(version)).json).toEqual({ ok: true });
    expect(await read(version)).toMatchObject({ status: 'rejected', rejectionReason: null });
  });

  test.each([
    ['not JSON', 'reason=x', 'Invalid JSON body'],
    ['a reason that is no text', { reason: 5 }, /^reason: /],
  ])('is refused with %s', async (_what, body, text) => {
    const version = await propose(bench, []);
    const message = text instanceof RegExp ? expect.stringMatching(text) : text;
    expect(refused(await reject(version, body))).toEqual([400, 'INVALID_INPUT', message]);
    expect(await read(version)).toMatchObject({ status: 'proposed' });
  });
});

describe('automation and run state', () => {
  const OFF = { enabled: false, cadence: 'weekly', lastProposedIsoWeek: null, nextProposalAt: null };

  test('both are empty at first', async () => {
    expect(await get('/automation')).toEqual({ automation: { ...OFF, updatedAt: null, updatedBy: null } });
    expect(await get('/run-state')).toEqual({ run: null });
  });

  test('turned on it is due at once, where there is a charter; turned off it is not due', async () => {
    const put = async (body: unknown) => (await call('PUT', `${BASE}/automation`, { body })).json;
    const on = { ...OFF, enabled: true, updatedAt: START.toISOString(), updatedBy: 'olga' };
    expect(await put({ enabled: true, reason: 'let us try' })).toEqual({ ok: true, automation: on });
    await putCharter(CHARTER);
    expect(await get('/automation')).toEqual({ automation: { ...on, nextProposalAt: START.toISOString() } });
    database.clock.now = new Date('2026-03-05T00:00:00.000Z');
    expect(await put({ enabled: true })).toMatchObject({ automation: { nextProposalAt: START.toISOString() } });
    expect(await put({ enabled: false })).toMatchObject({ automation: { enabled: false, nextProposalAt: null } });
    expect(
      (await events('operator_action')).filter((each) => (each as { action: string }).action === 'strategy-automation'),
    ).toEqual([
      { action: 'strategy-automation', actorId: 'olga', reason: 'let us try', enabled: true, was: false },
      { action: 'strategy-automation', actorId: 'olga', reason: null, enabled: true, was: true },
      { action: 'strategy-automation', actorId: 'olga', reason: null, enabled: false, was: true },
    ]);
  });

  test.each([
    ['{', 'INVALID_JSON', 'Invalid JSON body'],
    [{}, 'INVALID_BODY', 'Missing required boolean field: enabled'],
    [{ enabled: 'yes' }, 'INVALID_BODY', 'Missing required boolean field: enabled'],
    [{ enabled: true, reason: 3 }, 'INVALID_BODY', expect.stringMatching(/^reason: /)],
  ])('a toggle of %j is refused', async (body, code, text) => {
    expect(refused(await call('PUT', `${BASE}/automation`, { body }))).toEqual([400, code, text]);
  });
});

const EVERY: [string, string, unknown][] = [
  ['GET', '/snapshots', undefined],
  ['GET', '/snapshots/1', undefined],
  ['POST', '/snapshots/1/approve', {}],
  ['POST', '/snapshots/1/reject', {}],
  ['GET', '/charter', undefined],
  ['PUT', '/charter', CHARTER],
  ['GET', '/run-state', undefined],
  ['GET', '/automation', undefined],
  ['PUT', '/automation', { enabled: true }],
];

describe('every route', () => {
  test.each(EVERY)('%s %s without a store: 503', async (method, path) => {
    const served = await serveApp();
    const answer = await served.call(method, `${BASE}${path}`);
    await served.close();
    expect(refused(answer)).toEqual([503, 'STORE_UNAVAILABLE', 'Pipeline store not available']);
  });

  test.each(EVERY)('%s %s without credentials: 401', async (method, path) => {
    const answer = await call(method, `${BASE}${path}`, { headers: {} });
    expect(refused(answer)).toEqual([401, 'AUTH_REQUIRED', expect.any(String)]);
  });

  test.each(EVERY)('%s %s of an unknown repo: 404', async (method, path, body) => {
    const answer = await call(method, `/api/strategy/acme/none${path}`, { body });
    expect(refused(answer)).toEqual([404, 'NOT_FOUND', 'Repo not found: acme/none']);
  });

  test.each(EVERY)('%s %s fails unexpectedly: 500, which tells nothing of the inside', async (method, path, body) => {
    await sql`alter table repos rename to repos_away`.execute(database.db);
    try {
      const answer = await call(method, `${BASE}${path}`, { body });
      expect(refused(answer)).toEqual([500, 'INTERNAL_ERROR', 'Internal server error']);
    } finally {
      await sql`alter table repos_away rename to repos`.execute(database.db);
    }
  });
});

test('a repo of several tenants is named by its tenant', async () => {
  const other = await ensureTenant(database.store.tenant, 'other');
  await database.db
    .insertInto('repos')
    .values({
      tenant_id: other,
      owner: 'ACME',
      name: 'shop',
      slug_key: 'acme/shop',
      vcs_host: 'sandbox',
      clone_url: 'x',
      enabled: true,
    })
    .execute();
  expect(refused(await call('GET', `${BASE}/charter`))).toEqual([
    400,
    'INVALID_INPUT',
    'Several tenants have acme/shop: name one by the parameter tenant',
  ]);
  await call('PUT', `${BASE}/charter?tenant=other`, { body: CHARTER });
  expect(await get('/charter?tenant=default')).toEqual({ charter: null });
  expect(await get('/charter?tenant=other')).toMatchObject({ charter: { version: 1 } });
  await database.db.deleteFrom('strategy_charters').execute();
  await database.db.deleteFrom('strategy_automation').execute();
  await database.db.deleteFrom('repos').where('tenant_id', '=', other).execute();
});

import { createServer, type Server } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type IntelligenceInput, type Settings } from '@pipeline/domain';
import { type Engine, embedItems, expireIntelligence, OpenAiEmbedder } from '@pipeline/engine';
import { inTransaction, replaceRepoFiles } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { finding, learnt, workOn } from './agent-work.ts';
import { admit, type Bench, makeBench } from './bench.ts';
import { type Call, OLGA, serveConnected } from './served-app.ts';

const database = testDatabase();
const UNKNOWN = '0198c5a4-7c1e-7000-8000-000000000001';
let bench: Bench;
let engine: Engine;
let call: Call;
let close: () => Promise<void>;
let number = 0;
let retrieval: Settings['retrieval'] = DEFAULT_SETTINGS.retrieval;

beforeAll(async () => {
  bench = await makeBench(database.store, 'Acme/Shop');
  const now = () => database.clock.now ?? new Date();
  engine = {
    ...bench.engine,
    settings: () => ({ ...DEFAULT_SETTINGS, retrieval }),
    embedder: new OpenAiEmbedder({ variables: { EMBEDDING_KEY: 's3cret' }, now }),
  };
  bench.engine = engine;
  ({ call, close } = await serveConnected({ engine }));
});
afterAll(() => close());
beforeEach(async () => {
  database.clock.now = null;
  retrieval = DEFAULT_SETTINGS.retrieval;
  await sql`truncate finding_sightings, findings, intelligence_evidence, intelligence_scopes, intelligence_embeddings,
    intelligence_items, repo_files, repo_scans, retrospectives`.execute(database.db);
});

interface Item {
  id: string;
  title: string;
  status: string;
  source: string;
  observationCount: number;
  confidence: number | null;
  scopes?: { scopeKind: string; scopeRef: string }[];
  evidence?: { evidenceType: string; ref: string | null; path: string | null }[];
  [key: string]: unknown;
}
interface Listed {
  items: Item[];
  page: { total: number | null; limit: number; offset: number; hasMore: boolean };
}
const list = async (query = '') =>
  (await call('GET', `/api/intelligence?repo=acme/shop${query}`)).json as never as Listed;
const detail = async (id: string) =>
  ((await call('GET', `/api/intelligence/${id}`)).json as never as { item: Item }).item;
const move = (id: string, name: string, body: object = {}) => call('POST', `/api/intelligence/${id}/${name}`, { body });

/** An agent works on a new issue and says this. */
async function learn(items: Partial<IntelligenceInput>[], times = 1): Promise<void> {
  for (let n = 0; n < times; n += 1) {
    number += 1;
    await admit(bench, number);
    await workOn(bench, { intelligence: items.map(learnt) });
  }
}
const learnOne = async (over: Partial<IntelligenceInput> = {}, times = 1): Promise<Item> => {
  await learn([over], times);
  return (await list()).items[0] as Item;
};
const stand = (status: string, id?: string) =>
  sql`update intelligence_items set status = ${status} where ${id ?? null}::uuid is null or id = ${id ?? null}`.execute(
    database.db,
  );

describe('what agents say is worth knowing', () => {
  test('is a candidate, with what it is about and what it rests on', async () => {
    await learn([{}]);
    const { items, page } = await list();
    expect(page).toEqual({ total: 1, limit: 200, offset: 0, hasMore: false });
    expect(items[0]).toMatchObject({
      tenantId: bench.tenantId,
      repoId: bench.repo.id,
      ...{ kind: 'invariant', title: 'Refunds are booked once', status: 'candidate', source: 'report' },
      ...{ sourceAgent: 'analyzer', tags: ['ledger'], observationCount: 1, approvedAt: null, supersededBy: null },
    });
    expect(items[0]).not.toHaveProperty('scopes');
    expect(await detail(items[0]?.id ?? '')).toMatchObject({
      scopes: [{ scopeKind: 'file', scopeRef: 'src/refunds.ts', itemId: items[0]?.id }],
      evidence: [{ evidenceType: 'issue', ref: `#${number}` }],
    });
  });

  test('rises by being observed again', async () => {
    expect((await learnOne()).status).toBe('candidate');
    expect(await learnOne({ title: 'Refunds are booked once.' })).toMatchObject({
      status: 'observed',
      observationCount: 2,
    });
    expect(await learnOne()).toMatchObject({ status: 'proposed', observationCount: 3 });
    expect((await detail((await learnOne()).id)).evidence).toHaveLength(4);
    await stand('approved');
    expect(await learnOne()).toMatchObject({ status: 'approved', observationCount: 5 });
  });

  test('rises sooner when who reports it believes it', async () => {
    expect((await learnOne({ confidence: 0.9 })).status).toBe('candidate');
    expect((await learnOne({ confidence: 0.2 })).status).toBe('proposed');
  });

  test('and was dismissed by a person stays dismissed', async () => {
    const { id } = await learnOne();
    await move(id, 'dismiss', { reason: 'not so' });
    expect(await learnOne()).toMatchObject({ id, status: 'dismissed', observationCount: 2 });
  });

  test('follows from findings that come again', async () => {
    number += 1;
    await admit(bench, number);
    await workOn(bench, { findings: [finding()] });
    expect((await list()).items).toEqual([]);
    number += 1;
    await admit(bench, number);
    await workOn(bench, { findings: [finding()] });
    const [item] = (await list('&source=finding')).items;
    expect(item).toMatchObject({ kind: 'risk_area', status: 'observed', sourceFindingId: expect.any(String) });
    expect((await detail(item?.id ?? '')).scopes).toMatchObject([{ scopeKind: 'file', scopeRef: 'src/refunds.ts' }]);
  });
});

describe('the list', () => {
  test.each([
    ['kind=coupling', 'B'],
    ['status=proposed', 'B'],
    ['scope_kind=symbol', 'B'],
    ['scope_ref=bookRefund', 'B'],
    ['scope_kind=file&scope_ref=src/refunds.ts', 'A'],
    ['tag=MONEY', 'B'],
    ['min_confidence=0.6', 'B'],
    ['source=report&kind=invariant', 'A'],
    ['limit=1&offset=1', 'A'],
  ])('is cut down by %s', async (query, title) => {
    database.clock.now = new Date('2026-01-01T00:00:00Z');
    await learn([{ title: 'A' }]);
    database.clock.now = new Date('2026-01-02T00:00:00Z');
    const scopes = [{ kind: 'symbol' as const, ref: 'bookRefund' }];
    await learn([{ title: 'B', kind: 'coupling', confidence: 0.8, tags: ['Money'], scopes }], 2);
    expect((await list(`&${query}`)).items.map((item) => item.title)).toEqual([title]);
    expect((await list('&limit=9999')).page.limit).toBe(500);
  });

  test.each([
    '/api/intelligence',
    '/api/intelligence?repo=acme',
    '/api/intelligence?repo=acme/shop&kind=x',
    '/api/intelligence?repo=acme/shop&status=x',
    '/api/intelligence?repo=acme/shop&scope_kind=x',
    '/api/intelligence?repo=acme/shop&min_confidence=1.5',
    '/api/intelligence?repo=acme/shop&min_confidence=x',
    '/api/intelligence?repo=acme/shop&limit=x',
    '/api/intelligence/%20',
    '/api/intelligence/retrieve?repo=acme/shop',
    '/api/intelligence/retrieve?agent=developer',
    '/api/intelligence/retrieve?repo=acme/shop&agent=merger',
    '/api/intelligence/retrieve?repo=acme/shop&agent=planner&issue=x',
    '/api/intelligence/retrieve?repo=acme/shop&agent=planner&pr=0',
    '/api/intelligence/retrieve?repo=acme/shop&agent=planner&budget=-1',
  ])('%s is refused', async (path) => {
    const { status, json } = await call('GET', path);
    expect([status, json]).toEqual([400, { error: expect.any(String), code: 'INVALID_INPUT', status: 400 }]);
  });

  test.each(['/api/intelligence?repo=acme/none', '/api/intelligence/retrieve?repo=acme/none&agent=planner'])(
    '%s names a repo that nobody knows',
    async (path) => {
      expect((await call('GET', path)).status).toBe(404);
    },
  );
});

describe('moves', () => {
  test('lead where they should, and say who and why', async () => {
    const { id } = await learnOne({}, 3);
    await sql`delete from pipeline_events`.execute(database.db);
    expect((await move(id, 'approve', { reason: 'seen it' })).json).toMatchObject({
      ok: true,
      item: { id, status: 'approved', approvedBy: OLGA.username, approvedAt: expect.any(String), scopes: [{}] },
    });
    const other = await learnOne({ title: 'Refunds are booked once, by the ledger' });
    expect((await move(id, 'supersede', { supersededBy: other.id })).json).toMatchObject({
      item: { status: 'superseded', supersededBy: other.id },
    });
    expect((await move(other.id, 'dismiss', { reason: 'wrong' })).json).toMatchObject({
      item: { status: 'dismissed', dismissedReason: 'wrong', dismissedAt: expect.any(String) },
    });
    const { rows } = await sql<{ payload: object }>`
      select payload from pipeline_events where event_type = 'operator_action' order by id`.execute(database.db);
    expect(rows.map(({ payload }) => payload)).toEqual([
      { action: 'intelligence-approve', actorId: OLGA.username, reason: 'seen it', itemId: id },
      { action: 'intelligence-supersede', actorId: OLGA.username, reason: null, itemId: id, supersededBy: other.id },
      { action: 'intelligence-dismiss', actorId: OLGA.username, reason: 'wrong', itemId: other.id },
    ]);
  });

  test.each([
    ['candidate', ['approve', 'supersede']],
    ['observed', ['approve', 'supersede']],
    ['proposed', ['supersede']],
    ['approved', ['approve']],
    ['dismissed', ['approve', 'dismiss', 'supersede']],
    ['superseded', ['approve', 'dismiss', 'supersede']],
  ])('of what is %s, %j are refused', async (status, names) => {
    const { id } = await learnOne();
    const other = await learnOne({ title: 'Other' });
    await stand(status, id);
    for (const name of names) {
      const answer = await move(id, name, { reason: 'x', supersededBy: other.id });
      expect([name, answer.status, answer.json]).toEqual([
        name,
        400,
        { error: expect.any(String), code: 'INVALID_TRANSITION', status: 400 },
      ]);
    }
  });

  test('need a reason to dismiss, and a fit successor', async () => {
    const { id } = await learnOne();
    await stand('approved');
    const dead = await learnOne({ title: 'Dead' });
    await stand('dismissed', dead.id);
    const codeOf = async (name: string, body?: object) =>
      (await move(id, name, body)).json as never as { code: string };
    expect((await codeOf('dismiss')).code).toBe('INVALID_ARGUMENT');
    expect((await codeOf('dismiss', { reason: ' ' })).code).toBe('INVALID_ARGUMENT');
    expect((await codeOf('supersede')).code).toBe('INVALID_BODY');
    expect((await codeOf('supersede', { supersededBy: 'x' })).code).toBe('INVALID_BODY');
    for (const supersededBy of [id, UNKNOWN, dead.id]) {
      expect((await codeOf('supersede', { supersededBy })).code).toBe('INVALID_INPUT');
    }
    for (const other of [UNKNOWN, 'x']) expect((await move(other, 'approve')).status).toBe(404);
    for (const other of [UNKNOWN, 'x']) expect((await call('GET', `/api/intelligence/${other}`)).status).toBe(404);
  });
});

test('what nobody saw or was given for 90 days is dismissed, and may come back as something new', async () => {
  database.clock.now = new Date('2026-01-01T00:00:00Z');
  await learn([{ title: 'Old' }, { title: 'Used' }, { title: 'Approved' }]);
  const idOf = async (title: string) => (await list()).items.find((item) => item.title === title)?.id ?? '';
  await stand('approved', await idOf('Approved'));
  await sql`update intelligence_items set last_used_at = '2026-03-01' where title = 'Used'`.execute(database.db);
  database.clock.now = new Date('2026-03-31T00:00:00Z');
  expect(await expireIntelligence(engine)).toEqual({ dismissed: 0, more: false });
  database.clock.now = new Date('2026-04-02T00:00:00Z');
  const old = await idOf('Old');
  expect(await expireIntelligence(engine)).toEqual({ dismissed: 1, more: false });
  expect(await detail(old)).toMatchObject({ status: 'dismissed', dismissedReason: 'stale' });
  expect(await expireIntelligence(engine)).toEqual({ dismissed: 0, more: false });
  await learn([{ title: 'Old' }]);
  expect((await list('&status=candidate')).items.map(({ title }) => title)).toContain('Old');
});

interface Retrieved {
  snippets: { title: string; reason: string; itemId: string; scope: object[]; evidence: object[] }[];
  omitted: { reason: string; count: number }[];
  candidateFiles: { path: string; score: number; method: string; why: string }[];
  tokenEstimate: number;
  truncated: boolean;
  methodBreakdown: Record<string, number>;
  retrievalContext: Record<string, unknown>;
}
const retrieve = async (query: string) => {
  const { status, json } = await call('GET', `/api/intelligence/retrieve?repo=acme/shop&${query}`);
  expect([status, json]).toEqual([200, expect.any(Object)]);
  return json as never as Retrieved;
};

const FILES = ['src/refunds.ts', 'src/ledger/book.ts', 'src/ledger/close.ts', 'docs/money.md', 'src/mail.ts'];
async function map(files = FILES): Promise<void> {
  const repo = { tenantId: bench.tenantId, repoId: bench.repo.id };
  const mapped = files.map((path) => ({ path, language: null, size: 1, sha: null, summary: null }));
  const symbols = [{ path: 'src/ledger/book.ts', name: 'bookRefund', kind: 'function', line: 3 }];
  await inTransaction(database.store.tenant, (tx) =>
    replaceRepoFiles(
      tx,
      repo,
      mapped,
      symbols.filter(({ path }) => files.includes(path)),
    ),
  );
  await sql`
    insert into repo_scans (tenant_id, repo_id, due_at, scanned_at, file_count, symbol_count)
    values (${repo.tenantId}, ${repo.repoId}, now(), now(), ${files.length}, 1)
    on conflict (tenant_id, repo_id) do update set file_count = excluded.file_count`.execute(database.db);
}

/** A new issue that says this. @returns its number. */
async function issueThat(title: string, body: string, planned: string[] = []): Promise<number> {
  number += 1;
  const id = await admit(bench, number);
  await database.db.updateTable('issues').set({ title, body, planned_files: planned }).where('id', '=', id).execute();
  return number;
}
const titles = ({ snippets }: Retrieved) => snippets.map(({ title }) => title);
const omittedIn = ({ omitted }: Retrieved) => Object.fromEntries(omitted.map(({ reason, count }) => [reason, count]));

describe('retrieval', () => {
  test('gives what fits the issue, says why, and tells how it was found', async () => {
    await map();
    await learn([
      { title: 'Refunds are booked once', evidence: [{ ...NOTHING, type: 'file', path: 'src/refunds.ts' }] },
      {
        title: 'Mails are sent at night',
        summary: 'Never by day.',
        tags: [],
        scopes: [{ kind: 'file', ref: 'src/mail.ts' }],
      },
    ]);
    await stand('approved');
    const issue = await issueThat('Refund is booked twice', 'See `bookRefund` in src/refunds.ts and boook.ts');
    const found = await retrieve(`agent=developer&issue=${issue}`);
    expect(titles(found)).toEqual(['Refunds are booked once']);
    expect(found.snippets[0]).toEqual({
      ...{ kind: 'invariant', title: 'Refunds are booked once', confidence: null, source: 'report' },
      summary: 'A refund has one row in the ledger, whatever is retried.',
      scope: [{ kind: 'file', ref: 'src/refunds.ts' }],
      evidence: expect.arrayContaining([{ type: 'file', ref: null, path: 'src/refunds.ts', url: null }]),
      reason: expect.stringMatching(/^about src\/refunds\.ts; says .*"refund".*; approved$/),
      itemId: expect.any(String),
    });
    const [first, second] = found.candidateFiles;
    expect(first).toMatchObject({ path: 'src/refunds.ts', method: 'path', why: expect.stringContaining('named by') });
    expect(second).toMatchObject({ path: 'src/ledger/book.ts', method: 'symbol' });
    expect(found.tokenEstimate).toBeGreaterThan(50);
    expect(found.truncated).toBe(false);
    expect(found.methodBreakdown).toEqual({
      ...{ anchorsExtracted: expect.any(Number), anchorHits: expect.any(Number), precedentHits: 0, embeddingHits: 0 },
      ...{ corpusSize: 5, entityCount: 1 },
    });
    expect(found.methodBreakdown.anchorHits).toBeGreaterThan(3);
    expect(found.retrievalContext).toEqual({
      ...{ issueFound: true, prFound: null, titleUsed: 'Refund is booked twice', bodyLength: 47, labelsUsed: [] },
      ...{ plannedFilesCount: 0, changedFilesCount: null, changedFilesSource: 'not_applicable' },
      ...{ embeddingEnabled: false, embeddingError: null },
    });
  });

  test('leaves out by status, trust, place, likeness and lost evidence, and counts it', async () => {
    await map();
    const place = (ref: string) => ({ scopes: [{ kind: 'file' as const, ref }] });
    await learn([
      { title: 'Refund rule' },
      { title: 'refund RULE', kind: 'coupling' },
      { title: 'Refund doubt', confidence: 0.1 },
      { title: 'Refund mails', ...place('docs/old-money.md') },
      { title: 'Refund ghosts', evidence: [{ ...NOTHING, type: 'file', path: 'src/gone.ts' }] },
      { title: 'Refund candidate' },
    ]);
    await stand('approved');
    await sql`update intelligence_items set status = 'candidate' where title = 'Refund candidate'`.execute(database.db);
    const issue = await issueThat('Refund', '', ['src/refunds.ts']);
    const found = await retrieve(`agent=developer&issue=${issue}`);
    expect(titles(found)).toHaveLength(1);
    expect(omittedIn(found)).toEqual({
      ...{ duplicate: 1, low_confidence: 1, out_of_scope: 1, evidence_missing: 1, status: 1 },
    });
    expect(found.retrievalContext.plannedFilesCount).toBe(1);
    expect(found.candidateFiles[0]).toMatchObject({ path: 'src/refunds.ts', method: 'planned' });
    // Another role is not told the plan, so nothing is out of its scope.
    const planner = await retrieve(`agent=planner&issue=${issue}`);
    expect(planner.retrievalContext.plannedFilesCount).toBeNull();
    expect(omittedIn(planner).out_of_scope).toBeUndefined();
  });

  test('keeps to the budget, of the request or of the configuration', async () => {
    await learn(Array.from({ length: 12 }, (_, n) => ({ title: `Refund rule ${'abcdefghijkl'[n]}` })));
    await stand('approved');
    const issue = await issueThat('Refund', '');
    const all = await retrieve(`agent=developer&issue=${issue}`);
    expect([all.snippets.length, all.truncated]).toEqual([12, false]);
    const some = await retrieve(`agent=developer&issue=${issue}&budget=300`);
    expect(some.tokenEstimate).toBeLessThanOrEqual(300);
    expect(some.snippets.length + (omittedIn(some).budget ?? 0)).toBe(12);
    expect([some.truncated, some.snippets.length > 0]).toEqual([true, true]);
    retrieval = { ...retrieval, tokenBudget: 100 };
    expect((await retrieve(`agent=developer&issue=${issue}`)).tokenEstimate).toBeLessThanOrEqual(100);
  });

  test('of a reviewer goes by the files that the pull request changes', async () => {
    await map();
    await learn([
      { title: 'Mails at night', scopes: [{ kind: 'path', ref: 'src' }] },
      { title: 'Ledger', scopes: [{ kind: 'path', ref: 'docs' }] },
    ]);
    await stand('approved');
    const issue = await issueThat('Something', '');
    const without = await retrieve(`agent=reviewer&issue=${issue}`);
    expect(without.retrievalContext).toMatchObject({
      prFound: false,
      changedFilesSource: 'unavailable',
      changedFilesCount: null,
    });
    await sql`
      insert into pull_requests (tenant_id, repo_id, issue_id, number, title, body, url, head_ref, head_sha, base_ref,
        state, changed_files, opened_at)
      select ${bench.tenantId}, ${bench.repo.id}, id, ${issue}, '', '', '', 'b', 'c', 'main', 'open', '{src/mail.ts}', now()
      from issues where issue_number = ${issue} and repo_id = ${bench.repo.id}`.execute(database.db);
    for (const query of [`agent=reviewer&issue=${issue}`, `agent=reviewer&pr=${issue}`]) {
      const found = await retrieve(query);
      expect(found.retrievalContext).toMatchObject({ issueFound: true, prFound: true, changedFilesSource: 'stored' });
      expect(found.candidateFiles[0]).toMatchObject({ path: 'src/mail.ts', method: 'changed' });
      expect(titles(found)).toEqual(['Mails at night']);
    }
    expect((await retrieve('agent=reviewer&pr=999999')).retrievalContext.prFound).toBe(false);
    expect((await retrieve('agent=planner&issue=999999')).retrievalContext.issueFound).toBe(false);
  });

  test('takes earlier issues like this one into account', async () => {
    await map();
    const earlier = await issueThat('Earlier', '');
    await learn([{ title: 'Close the books first', summary: 'Else it fails.', tags: [], scopes: [] }]);
    await sql`
      update intelligence_items set status = 'approved', source_issue_id = (
        select id from issues where issue_number = ${earlier} and repo_id = ${bench.repo.id})`.execute(database.db);
    await sql`
      insert into retrospectives (tenant_id, id, repo_id, issue_id, status, summary, actual_files)
      select ${bench.tenantId}, gen_random_uuid(), ${bench.repo.id}, id, 'complete', 'The invoice export lost currency codes.',
        '{"files":["src/ledger/close.ts"]}' from issues where issue_number = ${earlier} and repo_id = ${bench.repo.id}`.execute(
      database.db,
    );
    const issue = await issueThat('Invoice export shows no currency', '');
    const found = await retrieve(`agent=analyzer&issue=${issue}`);
    expect(found.methodBreakdown.precedentHits).toBe(1);
    expect(found.snippets[0]?.reason).toContain('learnt from an issue like this one');
    expect(found.candidateFiles).toContainEqual({
      path: 'src/ledger/close.ts',
      method: 'precedent',
      score: 0.7,
      why: `was changed for #${earlier}`,
    });
  });

  test('reaches the worker with its task, and keeps what it gives fresh', async () => {
    await learn([{ title: 'Refund rule' }]);
    await stand('approved');
    const issue = await issueThat('Refund', '');
    expect(await payloadSnippets()).toMatchObject([{ title: 'Refund rule', itemId: expect.any(String) }]);
    const { rows } = await sql<{
      used: boolean;
    }>`select last_used_at is not null as used from intelligence_items`.execute(database.db);
    expect([rows, issue > 0]).toEqual([[{ used: true }], true]);
  });

  test('counts text that looks like a control token', async () => {
    await learn([{ title: 'Refund <|endoftext|>' }]);
    await stand('approved');
    const issue = await issueThat('Refund', '');
    expect((await retrieve(`agent=developer&issue=${issue}`)).snippets).toHaveLength(1);
  });
});

const NOTHING = { ref: null, path: null, url: null, excerpt: null };

async function payloadSnippets() {
  const { claim, registerWorker } = await import('@pipeline/engine');
  const agent = { name: 'w2', hostname: '', version: '1', repos: [], taskTypes: ['analyze' as const], labels: {} };
  const workerId = await registerWorker(engine, bench.tenantId, agent);
  for (;;) {
    const task = await claim(engine, { tenantId: bench.tenantId, workerId, taskTypes: ['analyze'], repoIds: null });
    if (!task) throw new Error('there is nothing to claim');
    if (task.issueNumber === number) return task.payload.snippets;
  }
}

describe('recall by meaning', () => {
  const asked: { authorization: string | undefined; body: { model: string; input: string[] } }[] = [];
  let answer: 'vectors' | 'nonsense' | 'error' = 'vectors';
  let server: Server;
  let url = '';

  /** Texts about money point one way, texts about mail the other; the rest between. */
  const vectorOf = (text: string) => [
    /money|refund|payback/i.test(text) ? 1 : 0.1,
    /mail|letter/i.test(text) ? 1 : 0.1,
    0.2,
  ];

  beforeAll(async () => {
    server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        const body = JSON.parse(text);
        asked.push({ authorization: request.headers.authorization, body });
        if (answer === 'error') response.writeHead(500).end();
        else if (answer === 'nonsense') response.end('{"data":[{"index":0,"embedding":["x"]}]}');
        else {
          const data = body.input.map((one: string, index: number) => ({
            object: 'embedding',
            index,
            embedding: vectorOf(one),
          }));
          response.end(JSON.stringify({ object: 'list', data: data.toReversed(), model: body.model }));
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1/`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));
  beforeEach(() => {
    answer = 'vectors';
    asked.length = 0;
    const endpoint = { url, model: 'small', apiKeyEnv: 'EMBEDDING_KEY', dimensions: null, timeoutMs: 2_000 };
    retrieval = { ...retrieval, embedding: true, embeddingEndpoint: endpoint };
  });
  afterEach(() => {
    database.clock.now = null;
  });

  test('finds what shares no word, by an endpoint that speaks the API', async () => {
    await learn([
      { title: 'Payback needs two people', summary: 'Always.', tags: [], scopes: [] },
      { title: 'Letters go out at night', summary: 'Always.', tags: [], scopes: [] },
    ]);
    await stand('approved');
    expect(await embedItems(engine)).toEqual({ made: 2, more: false });
    expect(await embedItems(engine)).toEqual({ made: 0, more: false });
    const issue = await issueThat('Money vanished', '');
    const found = await retrieve(`agent=developer&issue=${issue}`);
    expect(titles(found)[0]).toBe('Payback needs two people');
    expect(found.snippets[0]?.reason).toContain('near in meaning (1.00)');
    expect(found.methodBreakdown.embeddingHits).toBe(2);
    expect(found.retrievalContext).toMatchObject({ embeddingEnabled: true, embeddingError: null });
    expect(asked.map(({ authorization, body }) => [authorization, body.model, body.input.length])).toEqual([
      ['Bearer s3cret', 'small', 2],
      ['Bearer s3cret', 'small', 1],
    ]);
  });

  test.each([
    ['answers with an error', 'error' as const, /answered 500/],
    ['answers nonsense', 'nonsense' as const, /no vector/],
  ])('fails softly when the endpoint %s, rests, and comes back', async (_what, how, message) => {
    await learn([{ title: 'Refund rule' }]);
    await stand('approved');
    database.clock.now = new Date('2026-05-01T00:00:00Z');
    const issue = await issueThat('Refund', '');
    answer = how;
    const found = await retrieve(`agent=developer&issue=${issue}`);
    expect(titles(found)).toEqual(['Refund rule']);
    expect(found.retrievalContext.embeddingError).toMatch(message);
    await retrieve(`agent=developer&issue=${issue}`);
    expect(asked).toHaveLength(1);
    answer = 'vectors';
    database.clock.now = new Date('2026-05-01T00:00:31Z');
    expect((await retrieve(`agent=developer&issue=${issue}`)).retrievalContext.embeddingError).toBeNull();
  });

  test('says that nothing answers, or that the key is missing, and never the key', async () => {
    const issue = await issueThat('Refund', '');
    const endpoint = { url: 'http://127.0.0.1:9', model: 'm', apiKeyEnv: null, dimensions: null, timeoutMs: 500 };
    database.clock.now = new Date('2026-05-02T00:00:00Z');
    retrieval = { ...retrieval, embeddingEndpoint: endpoint };
    const away = (await retrieve(`agent=developer&issue=${issue}`)).retrievalContext.embeddingError;
    expect(away).toMatch(/^no answer from http:\/\/127\.0\.0\.1:9/);
    database.clock.now = new Date('2026-05-02T00:01:00Z');
    retrieval = { ...retrieval, embeddingEndpoint: { ...endpoint, apiKeyEnv: 'NO_SUCH_KEY' } };
    const { retrievalContext } = await retrieve(`agent=developer&issue=${issue}`);
    expect(retrievalContext.embeddingError).toMatch(/^NO_SUCH_KEY is not set/);
  });
});

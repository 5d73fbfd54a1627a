import { beforeAll, describe, expect, test } from '@jest/globals';
import { actOnIssue } from '@pipeline/engine';
import { aggregateIssueCounts } from '@pipeline/store';
import { type Minted, mintConnection } from '../support/connections.ts';
import { addRepo, labelIssue, makeTenant, register, type Tenant, WORK } from '../support/hosted.ts';
import { hosting } from './hosting.ts';
import { read, readOk } from './readers.ts';

describe('reads of the command line', () => {
  const { database } = hosting;
  let tenant: Tenant;
  let ann: Minted;
  let slug: string;
  const operator = { type: 'operator', id: 'olga', agent: null } as const;
  const get = (path: string, headers?: Record<string, string>) => read(hosting.api, path, ann.token, headers);
  const ok = (path: string) => readOk(hosting.api, path, ann.token);

  async function issueId(number: number): Promise<number> {
    const { id } = await database.db
      .selectFrom('issues')
      .select('id')
      .where('tenant_id', '=', tenant.id)
      .where('issue_number', '=', number)
      .executeTakeFirstOrThrow();
    return id;
  }
  const actOn = async (number: number, action: 'pause' | 'resume' | 'cancel') =>
    actOnIssue(hosting.api.owner, { tenantId: tenant.id, issueId: await issueId(number) }, action, operator);

  /** Claims a task and fails it for good. @returns the number of its issue. */
  async function failOne(): Promise<number> {
    const workerId = await register(hosting.api, tenant.token);
    const { body } = await hosting.api.post('/api/worker/claim', { workerId, taskTypes: WORK }, tenant);
    const failure = { claimToken: body.task.claimToken, errorMessage: 'permission denied', errorClass: 'permanent' };
    await hosting.api.post(`/api/worker/tasks/${body.task.id}/fail`, failure, tenant);
    return body.task.issueNumber;
  }

  beforeAll(async () => {
    tenant = await makeTenant(hosting.api);
    slug = `${tenant.repo.owner}/${tenant.repo.name}`;
    ann = await mintConnection(database.owner, { tenantId: tenant.id, role: 'owner' });
    for (const number of [1, 2, 3, 4, 5]) await labelIssue(hosting.api, tenant.repo, number);
  });

  describe('bootstrap', () => {
    test('shows the user of the connection and its repos, and nothing of the store by default', async () => {
      const body = await ok('/api/cli/bootstrap');
      expect(body).toMatchObject({
        org: { id: tenant.id },
        repos: [{ slug, defaultBranch: 'main', vcsHost: 'sandbox', enabled: true }],
        repo: null,
        pipelineStore: { kind: 'postgres', connected: true, host: null, port: null, database: null, sslMode: null },
        monitorUrl: null,
        viewer: { userId: String(ann.userId), login: ann.email, role: 'owner', scopes: ['pipeline:read'] },
      });
      expect(body.pipelineStore.schemaVersion).toMatch(/^\d{4}-[a-z-]+$/);
    });

    test('shows the requested repo, whatever the case of its name', async () => {
      const { repo } = await ok(`/api/cli/bootstrap?repo=${slug.toUpperCase()}`);
      expect(repo).toMatchObject({ slug, id: tenant.repo.id });
    });

    test('shows the address of the store when the operator allows it', async () => {
      const storeDetails = { host: 'db.example.org', port: 5432, database: 'pipeline', sslMode: 'require' };
      const api = await hosting.start({ storeDetails, monitorUrl: 'https://monitor.example.org' });
      const body = await readOk(api, '/api/cli/bootstrap', ann.token);
      expect(body).toMatchObject({ monitorUrl: 'https://monitor.example.org', pipelineStore: storeDetails });
    });
  });

  describe('the list of issues', () => {
    const numbers = async (query: string): Promise<number[]> => {
      const { items } = await ok(`/api/cli/issues?repo=${slug}&${query}`);
      return items.map((item: { issueNumber: number }) => item.issueNumber);
    };

    test('shows what is open, longest in its state first, with a real total', async () => {
      const { items, page } = await ok(`/api/cli/issues?repo=${slug}`);
      expect(items.map((item: { issueNumber: number }) => item.issueNumber)).toEqual([1, 2, 3, 4, 5]);
      expect(page).toEqual({ total: 5, limit: 100, offset: 0, hasMore: false });
      expect(items[0]).toMatchObject({
        issueNumber: 1,
        title: 'Issue 1',
        state: 'analyzing',
        activeTaskType: 'analyze',
      });
    });

    test('pages the list', async () => {
      const { items, page } = await ok(`/api/cli/issues?repo=${slug}&limit=2&offset=2`);
      expect(items.map((item: { issueNumber: number }) => item.issueNumber)).toEqual([3, 4]);
      expect(page).toEqual({ total: 5, limit: 2, offset: 2, hasMore: true });
      expect(await ok(`/api/cli/issues?repo=${slug}&limit=0&offset=-4`)).toMatchObject({
        page: { limit: 1, offset: 0 },
      });
      expect(await ok(`/api/cli/issues?repo=${slug}&limit=9999`)).toMatchObject({ page: { limit: 500 } });
      expect(await ok(`/api/cli/issues?repo=${slug}&offset=99`)).toMatchObject({
        items: [],
        page: { total: 5, hasMore: false },
      });
    });

    test('can be cut down to what is blocked, paused, or in one state', async () => {
      await actOn(5, 'pause');
      await actOn(4, 'cancel');
      const blocked = await failOne();
      expect(await numbers('state=paused')).toEqual([5]);
      expect(await numbers('state=blocked')).toEqual([blocked]);
      expect(await numbers('state=failure-blocked')).toEqual([blocked]);
      expect(await numbers('state=done')).toEqual([4]);
      expect(await numbers('state=open')).toHaveLength(4);
      expect(await numbers('state=planning')).toEqual([]);
      await aggregateIssueCounts(database.store.db, tenant.id, tenant.repo.id);
      expect(await ok(`/api/cli/issues?repo=${slug}&state=done`)).toMatchObject({ page: { total: 1 } });
      expect(await ok(`/api/cli/issues?repo=${slug}&state=analyzing&limit=1`)).toMatchObject({
        page: { total: 3, hasMore: true },
      });
    });

    test.each([
      ['a state that there is not', 'state=closed'],
      ['a limit that is no number', 'limit=ten'],
      ['a state given twice', 'state=open&state=done'],
    ])('refuses %s', async (_what, query) => {
      const { status, body } = await get(`/api/cli/issues?repo=${slug}&${query}`);
      expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
    });

    test('does not send an unchanged list again; any change in the repo ends that', async () => {
      const first = await get(`/api/cli/issues?repo=${slug}`);
      const tag = first.headers.get('etag') ?? '';
      expect(first.headers.get('cache-control')).toBe('private, no-cache');
      const again = await get(`/api/cli/issues?repo=${slug}`, { 'if-none-match': `"other", W/${tag}` });
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, undefined, tag]);
      await aggregateIssueCounts(database.store.db, tenant.id, tenant.repo.id);
      expect((await get(`/api/cli/issues?repo=${slug}`, { 'if-none-match': tag })).status).toBe(304);
      await actOn(1, 'pause');
      const changed = await get(`/api/cli/issues?repo=${slug}`, { 'if-none-match': tag });
      expect([changed.status, changed.headers.get('etag')]).not.toEqual([304, tag]);
      await actOn(1, 'resume');
      expect((await get(`/api/cli/issues?repo=${slug}`, { 'if-none-match': tag })).status).toBe(200);
    });

    test('never exceeds two MiB: the page reports how much it has', async () => {
      const big = await makeTenant(hosting.api);
      const bob = await mintConnection(database.owner, { tenantId: big.id, role: 'owner' });
      await labelIssue(hosting.api, big.repo, 1);
      const ofTenant = database.db.selectFrom('issue_list').selectAll().where('tenant_id', '=', big.id);
      const { body, ...row } = await ofTenant.executeTakeFirstOrThrow();
      const big_body = body?.replace('Issue 1', 'x'.repeat(9_000)) ?? null;
      const rows = Array.from({ length: 399 }, (_, index) => ({ ...row, big_body, issue_number: index + 2 }));
      await database.db.insertInto('issue_list').values(rows).execute();
      const bigSlug = `${big.repo.owner}/${big.repo.name}`;
      const { items, page } = await readOk(hosting.api, `/api/cli/issues?repo=${bigSlug}&limit=500`, bob.token);
      expect(page.limit).toBe(125);
      expect(items).toHaveLength(125);
    });
  });

  describe('why', () => {
    test('explains an issue whose worker is missing', async () => {
      const body = await ok(`/api/cli/issues/2/why?repo=${slug}`);
      expect(body.explanation).toMatch(
        /^acme-\w+\/shop#2 is being analysed and waits for a free worker to claim its analyze task/,
      );
      expect(body).toMatchObject({
        repo: slug,
        state: 'analyzing',
        activeTasks: [{ taskType: 'analyze', status: 'pending' }],
      });
      expect(body.recentTransitions).toMatchObject([{ from: 'new', to: 'analyzing', actorType: 'workflow-engine' }]);
    });

    test('explains a stop, with its last error and the remedy', async () => {
      const number = await failOne();
      const body = await ok(`/api/cli/issues/${number}/why?repo=${slug.toUpperCase()}`);
      expect(body).toMatchObject({
        state: 'failure-blocked',
        isBlocked: true,
        blockReason: 'permission_denied',
        waitingOn: [{ kind: 'human' }],
        lastError: { message: 'permission denied', agentName: 'analyzer', errorPattern: 'permission denied' },
        recommendations: [expect.stringContaining('Grant the missing permission')],
      });
    });

    test.each([
      ['an issue that there is not', '99', 404, 'ISSUE_NOT_FOUND'],
      ['one greater than any', '99999999999', 404, 'ISSUE_NOT_FOUND'],
      ['zero', '0', 400, 'INVALID_INPUT'],
      ['a word', 'seven', 400, 'INVALID_INPUT'],
      ['a sign', '-1', 400, 'INVALID_INPUT'],
    ])('refuses %s', async (_what, number, status, code) => {
      const answer = await get(`/api/cli/issues/${number}/why?repo=${slug}`);
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    });
  });

  test('the overview counts what is open, queued, claimed, blocked and failed', async () => {
    const body = await ok(`/api/cli/pipeline/overview?repo=${slug}`);
    const { page } = await ok(`/api/cli/issues?repo=${slug}`);
    const paused = await ok(`/api/cli/issues?repo=${slug}&state=paused`);
    const blocked = await ok(`/api/cli/issues?repo=${slug}&state=blocked`);
    expect(body.openIssues).toBe(page.total - paused.page.total);
    expect(body.blockedIssues).toHaveLength(blocked.page.total);
    expect(body.issuesByState).toMatchObject({ done: 1, 'in-review': 0 });
    expect(Object.keys(body.issuesByState)).toHaveLength(13);
    expect(body.queueDepth.byTaskType).toMatchObject({ analyze: body.queueDepth.total, develop: 0 });
    expect(body.recentFailures[0]).toMatchObject({ agentName: 'analyzer', errorPattern: 'permission denied' });
    expect(body.workerPool).toMatchObject({ total: 1, idle: 1, offline: 0, utilizationPct: 0 });
    expect(body.cost).toEqual({
      last24hUsd: 0,
      last7dUsd: 0,
      last30dUsd: 0,
      lifetimeUsd: 0,
      todayUsd: 0,
      last24hUnreportedCosts: 0,
      last7dUnreportedCosts: 0,
      last30dUnreportedCosts: 0,
      lifetimeUnreportedCosts: 0,
      todayUnreportedCosts: 0,
    });
    expect(body.vcsWriteQueueDepth).toBeGreaterThan(0);
    expect(body.truncated).toBe(false);
  });

  describe('a repo that is not there for a connection', () => {
    const paths = (repo: string) => [
      `/api/cli/bootstrap?repo=${repo}`,
      `/api/cli/issues?repo=${repo}`,
      `/api/cli/issues/1/why?repo=${repo}`,
      `/api/cli/pipeline/overview?repo=${repo}`,
    ];

    test('answers alike whether the repo is unknown, disabled, foreign or not granted', async () => {
      const disabled = await addRepo(hosting.api, tenant.id, `${tenant.repo.owner}/disabled`);
      await labelIssue(hosting.api, disabled, 1);
      await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', disabled.id).execute();
      const foreign = await makeTenant(hosting.api);
      await labelIssue(hosting.api, foreign.repo, 1);
      const granted = await addRepo(hosting.api, tenant.id, `${tenant.repo.owner}/granted`);
      const member = await mintConnection(database.owner, { tenantId: tenant.id, repoIds: [granted.id, disabled.id] });
      const names = ['no/such', `${tenant.repo.owner}/disabled`, `${foreign.repo.owner}/shop`, 'a%20b/c%00d', slug];
      const answers = [];
      for (const name of names) {
        for (const path of paths(name)) {
          const { status, body } = await read(hosting.api, path, member.token);
          answers.push({ status, body });
        }
      }
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]).toMatchObject({ status: 404, body: { code: 'REPO_NOT_FOUND' } });
      expect((await readOk(hosting.api, '/api/cli/bootstrap', member.token)).repos).toHaveLength(1);
    });

    test('refuses a name without a slash, or with more than one, as malformed', async () => {
      for (const name of ['shop', 'a/b/c', '/shop', 'shop/', '']) {
        for (const path of paths(name)) {
          const { status, body } = await get(path);
          expect([path, status, body.code]).toEqual([path, 400, 'INVALID_INPUT']);
        }
      }
      expect((await get('/api/cli/issues')).body).toMatchObject({ code: 'INVALID_INPUT', error: 'repo is required' });
    });
  });

  test('each read is a statement for the token, one for the rights and one or two for the data, from the replica', async () => {
    const statements: string[] = [];
    const kindOf = (text: string) => {
      if (text.includes('oauth_tokens')) return 'token';
      return text.includes('memberships') ? 'right' : 'data';
    };
    const store = hosting.open({
      readUrl: database.url,
      onStatement(text, session) {
        const { connectionParameters } = session as { connectionParameters: { application_name: string } };
        // The clock of the tests is set at each checkout.
        if (!text.includes('set_config')) statements.push(`${connectionParameters.application_name} ${kindOf(text)}`);
      },
    });
    const api = await hosting.start({ store });
    // An overview reads the costs apart from the other data.
    const reads = { 'bootstrap?': 1, 'issues?': 1, 'issues/2/why?': 1, 'pipeline/overview?': 2 };
    for (const [path, data] of Object.entries(reads)) {
      statements.length = 0;
      await readOk(api, `/api/cli/${path}repo=${slug}`, ann.token);
      expect([path, ...statements]).toEqual([
        path,
        'test:requests token',
        'test:requests right',
        ...Array(data).fill('test:reads data'),
      ]);
    }
  });
});

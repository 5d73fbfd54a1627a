import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { recordFindings } from '@pipeline/store';
import manifest from '../../package.json' with { type: 'json' };
import { type Minted, mintConnection } from '../support/connections.ts';
import {
  addRepo,
  type Hosted,
  labelIssue,
  makeTenant,
  NO_LIMITS,
  PUBLIC_URL,
  register,
  type Tenant,
} from '../support/hosted.ts';
import { hosting } from './hosting.ts';
import { readOk } from './readers.ts';

describe('tools of MCP', () => {
  const { database } = hosting;
  let tenant: Tenant;
  let ann: Minted;
  let slug: string;
  const clients: Client[] = [];

  /** The protocol's own client. */
  async function connect(api: Hosted = hosting.api, token = ann.token): Promise<Client> {
    const client = new Client({ name: 'test', version: '1.0.0' });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${api.url}/api/mcp`), { requestInit }));
    clients.push(client);
    return client;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the client holds the content to the tool's schema.
  type Json = any;

  async function call(name: string, args: Record<string, unknown> = {}): Promise<Json> {
    const client = await connect();
    const { structuredContent, isError, content } = await client.callTool({ name, arguments: args });
    expect([isError ?? false, content]).toEqual([false, [{ type: 'text', text: JSON.stringify(structuredContent) }]]);
    return structuredContent;
  }

  async function refusal(name: string, args: Record<string, unknown>): Promise<string> {
    const { isError, content } = await (await connect()).callTool({ name, arguments: args });
    expect(isError).toBe(true);
    return JSON.stringify(content);
  }

  /** Body without the fields that differ from one moment to the next. */
  const still = ({ serverTimestamp: _, ...body }: Record<string, unknown>) =>
    JSON.parse(JSON.stringify(body, (key, value) => (/Ms$/.test(key) ? 0 : value)));

  beforeAll(async () => {
    tenant = await makeTenant(hosting.api);
    slug = `${tenant.repo.owner}/${tenant.repo.name}`;
    ann = await mintConnection(database.owner, { tenantId: tenant.id, role: 'owner' });
    for (let number = 1; number <= 120; number += 1) await labelIssue(hosting.api, tenant.repo, number);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
  });

  test('the server states the version of the release', async () => {
    expect((await connect()).getServerVersion()).toEqual({ name: 'pipeline', version: manifest.version });
  });

  test('tools are offered with what they take and give, all of them read-only', async () => {
    const { tools } = await (await connect()).listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'explain_issue',
      'get_bootstrap',
      'get_cost_summary',
      'get_timeline',
      'list_blocked_issues',
      'list_findings',
      'list_issues',
      'pipeline_overview',
      'retrieve_intelligence',
    ]);
    for (const tool of tools) {
      expect(tool.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema?.type).toBe('object');
      expect(tool.title).not.toBe('');
    }
  });

  test('every argument of every tool has a description', async () => {
    const { tools } = await (await connect()).listTools();
    const without = tools.flatMap(({ name, inputSchema }) =>
      Object.entries((inputSchema.properties ?? {}) as Record<string, { description?: string }>)
        .filter(([, { description = '' }]) => description.trim() === '')
        .map(([argument]) => `${name} ${argument}`),
    );
    expect(without).toEqual([]);
  });

  test('a client of the former generation of the protocol is served, too', async () => {
    const message = (method: string, params: object, id = 1) => ({ jsonrpc: '2.0', id, method, params });
    const post = async (body: object) => {
      const response = await fetch(`${hosting.api.url}/api/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ann.token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
    const clientInfo = { name: 'old', version: '1' };
    const hello = await post(message('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }));
    expect([hello.status, hello.text]).toEqual([200, expect.stringContaining('"protocolVersion":"2025-06-18"')]);
    const answer = await post(message('tools/call', { name: 'explain_issue', arguments: { repo: slug, issue: 1 } }));
    expect(answer.text).toContain('waits for a free worker');
  });

  describe('a tool gives what REST gives:', () => {
    test.each([
      ['get_bootstrap', {}, '/api/cli/bootstrap'],
      ['get_bootstrap', { repo: 'SLUG' }, '/api/cli/bootstrap?repo=SLUG'],
      ['list_issues', { repo: 'SLUG', limit: 20, offset: 110 }, '/api/cli/issues?repo=SLUG&limit=20&offset=110'],
      ['list_issues', { repo: 'SLUG', state: 'done' }, '/api/cli/issues?repo=SLUG&state=done&limit=50'],
      ['list_blocked_issues', { repo: 'SLUG' }, '/api/cli/issues?repo=SLUG&state=blocked&limit=50'],
      ['explain_issue', { repo: 'SLUG', issue: 7 }, '/api/cli/issues/7/why?repo=SLUG'],
      ['pipeline_overview', { repo: 'SLUG' }, '/api/cli/pipeline/overview?repo=SLUG'],
    ])('%s %j', async (name, args, path) => {
      const named = JSON.parse(JSON.stringify(args).replaceAll('SLUG', slug));
      const rest = await readOk(hosting.api, path.replaceAll('SLUG', slug), ann.token);
      expect(still(await call(name, named))).toEqual(still(rest));
    });
  });

  describe('a long list', () => {
    test('names the offset of the next page', async () => {
      const first = await call('list_issues', { repo: slug, limit: 100 });
      expect(first.items).toHaveLength(100);
      const rest = await call('list_issues', { repo: slug, limit: 100, offset: first.nextOffset });
      expect(rest.items).toHaveLength(20);
      expect(rest).not.toHaveProperty('nextOffset');
    });

    test('a list is cut at 64 KiB, and the next pages have the rest', async () => {
      const finding = {
        findingType: 'risk',
        category: 'security',
        severity: 'high' as const,
        confidence: 0.5,
        title: 'T',
        summary: 'x'.repeat(6_000),
        recommendation: null,
        evidence: [],
        metadata: {},
        blocksProgress: false,
      };
      const place = { runId: 1, repoId: tenant.repo.id, issueId: null, prId: null, prNumber: null, agent: 'reviewer' };
      await recordFindings(
        database.db as never,
        tenant.id,
        place,
        Array.from({ length: 25 }, (_, n) => ({ ...finding, title: `T${n}` })),
      );
      const ids = new Set<string>();
      let offset: number | undefined = 0;
      while (offset !== undefined) {
        const page: Json = await call('list_findings', { repo: slug, limit: 100, offset });
        expect(JSON.stringify(page).length).toBeLessThan(64 * 1024);
        expect(page.page.total).toBe(25);
        for (const { id } of page.items) ids.add(id);
        offset = page.nextOffset;
      }
      expect(ids.size).toBe(25);
      expect((await call('list_findings', { repo: slug, severity: 'low' })).items).toEqual([]);
    });
  });

  test('the timeline lists what happened, oldest first, in pages', async () => {
    const first = await call('get_timeline', { repo: slug, issue: 1, limit: 2 });
    expect(first).toMatchObject({
      issueNumber: 1,
      currentState: 'analyzing',
      nextOffset: 2,
      stateTransitions: [{ to: 'analyzing' }],
    });
    const all = await call('get_timeline', { repo: slug, issue: 1, limit: 100 });
    expect(all.entries.map(({ kind }: Json) => kind).sort()).toEqual(['projection', 'projection', 'transition']);
    expect(all.entries.slice(0, 2)).toEqual(first.entries);
  });

  describe('the cost summary', () => {
    test('counts every repo within reach, or the one that is named', async () => {
      const { api } = hosting;
      const own = await makeTenant(api);
      const paid = await addRepo(api, own.id, `${own.repo.owner}/paid`);
      const [first, second] = [`${own.repo.owner}/${own.repo.name}`, `${paid.owner}/${paid.name}`];
      const spend = async (repo: typeof paid, costUsd: number) => {
        await labelIssue(api, repo, 1);
        const workerId = await register(api, own.token, repo.name);
        const claim = { workerId, taskTypes: ['analyze'], repos: [`${repo.owner}/${repo.name}`] };
        const { task } = (await api.post('/api/worker/claim', claim, own)).body;
        const call = { index: 0, model: 'm', provider: 'p', inputTokens: 1_000_000, outputTokens: 1_000_000, turns: 1 };
        const invocations = [{ ...call, costUsd, stopReason: 'completed' }];
        const report = { claimToken: task.claimToken, outcome: 'analyzed', result: {}, invocations };
        expect((await api.post(`/api/worker/tasks/${task.id}/complete`, report, own)).status).toBe(200);
      };
      await spend(own.repo, 1.5);
      await spend(paid, 2.25);
      const { token } = await mintConnection(database.owner, { tenantId: own.id, role: 'owner' });
      const summary = async (args: Record<string, unknown>) =>
        (await (await connect(api, token)).callTool({ name: 'get_cost_summary', arguments: args })).structuredContent;
      expect(await summary({})).toMatchObject({
        lifetimeUsd: 3.75,
        byAgent: [{ usd: 3.75, invocations: 2 }],
        byRepo: [{ repo: second }, { repo: first }],
      });
      for (const repo of [second, second.toUpperCase()])
        expect(await summary({ repo })).toMatchObject({
          last24hUsd: 2.25,
          lifetimeUsd: 2.25,
          byAgent: [{ usd: 2.25, invocations: 1 }],
          byRepo: [{ repo: second, lifetimeUsd: 2.25 }],
        });
    });

    test('refuses the summary of a repo out of reach', async () => {
      const other = await makeTenant(hosting.api);
      for (const repo of ['no/such', `${other.repo.owner}/${other.repo.name}`])
        expect(await refusal('get_cost_summary', { repo })).toContain('REPO_NOT_FOUND');
      expect(await refusal('get_cost_summary', { repo: 'no-slash' })).toContain('must be owner/name');
    });
  });

  describe('bad arguments are an error of the tool', () => {
    test.each([
      ['list_issues', {}, 'repo'],
      ['list_issues', { repo: 'no-slash' }, 'must be owner/name'],
      ['list_issues', { repo: 'SLUG', state: 'closed' }, 'state'],
      ['list_issues', { repo: 'SLUG', limit: 101 }, 'limit'],
      ['explain_issue', { repo: 'SLUG', issue: 0 }, 'issue'],
      ['explain_issue', { repo: 'SLUG', issue: 999 }, 'ISSUE_NOT_FOUND'],
      ['pipeline_overview', { repo: 'no/such' }, 'REPO_NOT_FOUND'],
      ['pipeline_overview', { repo: 'SLUG', state: 'done' }, 'state'],
      ['get_cost_summary', { repository: 'SLUG' }, 'repository'],
    ])('%s %j', async (name, args, message) => {
      expect(await refusal(name, JSON.parse(JSON.stringify(args).replaceAll('SLUG', slug)))).toContain(message);
    });

    test('an internal failure shows no detail to the client', async () => {
      const store = database.open();
      const api = await hosting.start({ store });
      const client = await connect(api);
      Object.assign(store, { reads: null });
      const { isError, content } = await client.callTool({ name: 'get_bootstrap', arguments: {} });
      await store.close();
      expect([isError, content]).toEqual([true, [{ type: 'text', text: 'INTERNAL_ERROR: The tool failed.' }]]);
    });
  });

  describe('over HTTP', () => {
    const at = async (method: string, headers: Record<string, string> = {}, body: string | null = null) => {
      const authorization = `Bearer ${ann.token}`;
      return fetch(`${hosting.api.url}/api/mcp`, { method, headers: { authorization, ...headers }, body });
    };

    test('there are no sessions', async () => {
      expect((await at('GET', { accept: 'text/event-stream' })).status).toBe(405);
      expect((await at('DELETE')).status).toBe(405);
    });

    test('a request without an access token is refused with the address of the metadata', async () => {
      const response = await at('POST', { authorization: 'Basic YTpi' }, '{}');
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('resource_metadata=');
    });

    test('refuses a body that is no message', async () => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      expect((await at('POST', headers, '{"jsonrpc": ')).status).toBe(400);
      expect((await at('POST', headers, '{}')).status).toBe(400);
      const huge = await at('POST', headers, JSON.stringify({ x: 'y'.repeat(300_000) }));
      expect([huge.status, (await huge.json()) as object]).toEqual([
        413,
        expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }),
      ]);
    });

    test('a batch is refused, whatever the revision of the protocol, and its calls are not made', async () => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const call = (id: number) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'get_bootstrap', arguments: {} },
      });
      const batch = JSON.stringify(Array.from({ length: 100 }, (_, id) => call(id)));
      for (const more of [{}, { 'mcp-protocol-version': '2025-03-26' }]) {
        for (const body of [batch, ` \n${batch}`, `\ufeff${batch}`, '[]', JSON.stringify([call(1)])]) {
          const answer = await at('POST', { ...headers, ...more }, body);
          expect([answer.status, await answer.json()]).toEqual([
            400,
            { jsonrpc: '2.0', id: null, error: { code: -32600, message: expect.stringContaining('Batches') } },
          ]);
        }
      }
    });

    test('text that the store cannot hold is replaced, so that a tool answers for what is left', async () => {
      const refused = await refusal('list_issues', { repo: 'acme/sh\0op\ud800' });
      expect(refused).toContain('REPO_NOT_FOUND');
    });

    test('a page of another site is refused, a program is not', async () => {
      const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: {} });
      const foreign = await at('POST', { ...headers, origin: 'https://evil.example' }, ping);
      expect([foreign.status, await foreign.json()]).toMatchObject([403, { code: 'ORIGIN_NOT_ALLOWED' }]);
      expect((await at('DELETE', { origin: 'https://evil.example' })).status).toBe(403);
      expect((await at('POST', headers, ping)).status).toBe(200);
      expect((await at('POST', { ...headers, origin: PUBLIC_URL }, ping)).status).toBe(200);
    });

    test('a connection has its number of messages a minute', async () => {
      const api = await hosting.start({ limits: { ...NO_LIMITS, mcp: 2 } });
      const post = () =>
        fetch(`${api.url}/api/mcp`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${ann.token}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: {} }),
        });
      const first = await post();
      expect([first.status, first.headers.get('ratelimit')]).toEqual([200, expect.stringContaining('"mcp";r=1')]);
      await post();
      const third = await post();
      expect([third.status, Number(third.headers.get('retry-after')) > 0]).toEqual([429, true]);
    });
  });
});

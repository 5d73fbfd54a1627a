import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { revokeConnection } from '@pipeline/store';
import { type Minted, mintConnection } from '../support/connections.ts';
import { addRepo, labelIssue, makeTenant, register, type Tenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('isolation of connections', () => {
  const { database } = hosting;
  const SLUG = 'same/shop';
  const HIDDEN_SLUG = 'same/hidden';

  /** One of two organisations that are alike in everything but the word that marks what is theirs. */
  interface Org {
    mark: string;
    tenant: Tenant;
    owner: Minted;
    /** Reaches the shop alone. */
    member: Minted;
  }
  let alpha: Org;
  let beta: Org;

  /** Reads of a repo, REST and tools; `{repo}` stands for its name. */
  const PATHS = [
    '/api/cli/bootstrap',
    '/api/cli/bootstrap?repo={repo}',
    '/api/cli/issues?repo={repo}',
    '/api/cli/issues?repo={repo}&state=blocked',
    '/api/cli/issues?repo={repo}&state=paused',
    '/api/cli/issues?repo={repo}&state=needs-clarification',
    '/api/cli/issues/1/why?repo={repo}',
    '/api/cli/issues/2/why?repo={repo}',
    '/api/cli/pipeline/overview?repo={repo}',
  ];
  const TOOLS: [string, Record<string, unknown>][] = [
    ['get_bootstrap', {}],
    ['get_bootstrap', { repo: '{repo}' }],
    ['list_issues', { repo: '{repo}' }],
    ['list_blocked_issues', { repo: '{repo}' }],
    ['explain_issue', { repo: '{repo}', issue: 1 }],
    ['explain_issue', { repo: '{repo}', issue: 2 }],
    ['pipeline_overview', { repo: '{repo}' }],
    ['get_timeline', { repo: '{repo}', issue: 1 }],
    ['get_timeline', { repo: '{repo}', issue: 2 }],
    ['list_findings', { repo: '{repo}' }],
    ['retrieve_intelligence', { repo: '{repo}', agent: 'developer', issue: 1 }],
    ['retrieve_intelligence', { repo: '{repo}', agent: 'reviewer' }],
    ['get_cost_summary', {}],
  ];

  interface Seen {
    what: string;
    status: number;
    text: string;
  }

  async function get(path: string, headers: Record<string, string>): Promise<Seen> {
    const response = await hosting.api.fetch(`${hosting.api.url}${path}`, { headers });
    return { what: path, status: response.status, text: await response.text() };
  }

  async function use(name: string, args: object, headers: Record<string, string>): Promise<Seen> {
    const accept = 'application/json, text/event-stream';
    const response = await fetch(`${hosting.api.url}/api/mcp`, {
      method: 'POST',
      headers: { ...headers, accept, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    });
    return { what: `${name} ${JSON.stringify(args)}`, status: response.status, text: await response.text() };
  }

  /** Everything there is to see with these headers. */
  async function seeAll(headers: Record<string, string>, repo = SLUG): Promise<Seen[]> {
    const named = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('{repo}', repo));
    const seen: Seen[] = [];
    for (const path of PATHS) seen.push(await get(named(path), headers));
    for (const [name, args] of TOOLS) seen.push(await use(name, named(args), headers));
    return seen;
  }

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  /** Everything that can be written of an issue, marked. */
  async function makeOrg(mark: string): Promise<Org> {
    const { api } = hosting;
    const tenant = await makeTenant(api, SLUG);
    await database.db
      .updateTable('tenants')
      .set({ name: `${mark} Inc` })
      .where('id', '=', tenant.id)
      .execute();
    await database.db
      .updateTable('repos')
      .set({ default_branch: `${mark}-main` })
      .where('id', '=', tenant.repo.id)
      .execute();
    const hidden = await addRepo(api, tenant.id, HIDDEN_SLUG);
    const over = { body: mark, url: `http://127.0.0.1/${mark}`, labels: ['svc:enqueue', mark] };
    for (const number of [1, 2, 3]) await labelIssue(api, tenant.repo, number, { ...over, title: `${mark} ${number}` });
    await labelIssue(api, hidden, 1, { ...over, title: `${mark} HIDDEN` });
    const workerId = await register(api, tenant.token, `${mark}-worker`);
    const work = async (path: 'complete' | 'fail' | 'progress', more: object, repo = SLUG) => {
      const claim = { workerId, taskTypes: ['analyze'], repos: [repo] };
      const { task } = (await api.post('/api/worker/claim', claim, tenant)).body;
      const calls = {
        index: 0,
        model: mark,
        provider: mark,
        inputTokens: 1_000_000,
        outputTokens: 1,
        cacheReadTokens: 0,
      };
      const invocations = [{ ...calls, cacheWriteTokens: 0, turns: 1, costUsd: 1, stopReason: 'completed' }];
      const body = { claimToken: task.claimToken, invocations, ...more };
      const answer = await api.post(`/api/worker/tasks/${task.id}/${path}`, body, tenant);
      expect([path, answer.status, answer.body]).toEqual([path, 200, answer.body]);
    };
    const evidence = [{ kind: 'text', summary: mark }];
    const finding = {
      findingType: 'risk',
      category: mark,
      severity: 'high',
      title: mark,
      summary: mark,
      evidence,
      blocksProgress: true,
    };
    const artefacts = [{ kind: 'note', mediaType: 'text/plain', title: mark, body: mark }];
    const known = {
      kind: 'invariant',
      title: `${mark} 1`,
      summary: mark,
      details: mark,
      confidence: 0.9,
      tags: [mark],
      scopes: [{ kind: 'repo', ref: mark }],
      evidence: [{ type: 'log', excerpt: mark }],
    };
    const asks = {
      outcome: 'needs-clarification',
      result: { question: `${mark}?` },
      findings: [finding],
      artefacts,
      intelligence: [known],
    };
    await work('complete', asks);
    await work('fail', { errorMessage: `${mark} permission denied`, errorClass: 'permanent' });
    await work('progress', { status: `${mark} at work` });
    await work('fail', { errorMessage: `${mark} HIDDEN permission denied`, errorClass: 'permanent' }, HIDDEN_SLUG);
    const owner = await mintConnection(database.owner, { tenantId: tenant.id, role: 'owner' });
    const member = await mintConnection(database.owner, { tenantId: tenant.id, repoIds: [tenant.repo.id] });
    return { mark, tenant, owner, member };
  }

  beforeAll(async () => {
    alpha = await makeOrg('ALPHA');
    beta = await makeOrg('BETA');
    await database.db.updateTable('intelligence_items').set({ status: 'approved' }).execute();
  });

  /** Tables whose rows nothing here makes. */
  const LOCAL = ['worker_periods', 'worker_tokens', 'oauth_connections'];

  test('both organisations have rows in the same tables', async () => {
    const tables = (await database.db.introspection.getTables()).filter(
      ({ name, schema, columns }) =>
        schema === 'pipeline' &&
        columns.some((column) => column.name === 'tenant_id') &&
        !/_\d{4}_\d\d$|_default$/.test(name),
    );
    const owners = async (table: string) => {
      const rows = await database.db
        .selectFrom(table as 'issues')
        .select('tenant_id')
        .distinct()
        .execute();
      return rows.map((row) => row.tenant_id).filter((id) => id === alpha.tenant.id || id === beta.tenant.id).length;
    };
    const counts = await Promise.all(tables.map(async ({ name }) => [name, await owners(name)] as const));
    expect(counts.filter(([, count]) => count === 1)).toEqual([]);
    const filled = counts.filter(([, count]) => count === 2).map(([name]) => name);
    expect(filled).toEqual(
      expect.arrayContaining([
        ...[
          'issues',
          'issue_list',
          'issue_count_deltas',
          'transitions',
          'tasks',
          'runs',
          'agent_invocations',
          'artefacts',
        ],
        ...[
          'findings',
          'finding_sightings',
          'intelligence_items',
          'intelligence_scopes',
          'intelligence_evidence',
          'projections',
          'issue_events',
          'pipeline_events',
          'cost_events',
          'workers',
          ...LOCAL,
        ],
      ]),
    );
  });

  describe('a good token', () => {
    test.each([
      ['an owner', 'owner'],
      ['a member', 'member'],
    ] as const)('the token of %s shows everything of its organisation and nothing of the other', async (_who, role) => {
      for (const [own, other] of [
        [alpha, beta],
        [beta, alpha],
      ] as const) {
        for (const { what, status, text } of await seeAll(bearer(own[role].token))) {
          expect([what, status]).toEqual([what, 200]);
          expect(text).not.toContain(other.mark);
          expect(text).not.toContain('REPO_NOT_FOUND');
          // Costs and empty lists carry no mark.
          if (!/get_cost_summary|state=paused/.test(what))
            expect([what, text]).toEqual([what, expect.stringContaining(own.mark)]);
        }
      }
    });

    test('the token of a member shows nothing of a repo that was not granted', async () => {
      const seen = await seeAll(bearer(alpha.member.token), HIDDEN_SLUG);
      for (const { what, status, text } of seen) {
        if (what.includes(HIDDEN_SLUG)) {
          expect([what, text]).toEqual([what, expect.stringContaining('REPO_NOT_FOUND')]);
          expect(status).toBe(what.startsWith('/') ? 404 : 200);
        }
        expect([what, text]).not.toEqual([what, expect.stringContaining('HIDDEN')]);
        expect([what, text]).not.toEqual([what, expect.stringContaining('"slug":"same/hidden"')]);
      }
      const all = await seeAll(bearer(alpha.owner.token), HIDDEN_SLUG);
      expect(all.filter(({ text }) => text.includes('HIDDEN')).length).toBeGreaterThan(5);
    });

    test('counts only what its organisation spent and reaches', async () => {
      const cost = async ({ token }: Minted) => {
        const { text } = await use('get_cost_summary', {}, bearer(token));
        return JSON.parse(/\{.*\}/.exec(text)?.[0] ?? '').result.structuredContent;
      };
      expect(await cost(alpha.owner)).toMatchObject({
        lifetimeUsd: 4,
        byRepo: [
          { repo: SLUG, lifetimeUsd: 3 },
          { repo: HIDDEN_SLUG, lifetimeUsd: 1 },
        ],
      });
      expect(await cost(alpha.member)).toMatchObject({ lifetimeUsd: 3, byRepo: [{ repo: SLUG, lifetimeUsd: 3 }] });
    });
  });

  describe('nothing at all is shown with', () => {
    const mint = (more: Partial<Parameters<typeof mintConnection>[1]> = {}) =>
      mintConnection(database.owner, { tenantId: alpha.tenant.id, role: 'owner', ...more });

    test.each<[string, () => Promise<Record<string, string>>]>([
      ['no credentials', async () => ({})],
      ['a worker token', async () => bearer(alpha.tenant.token)],
      ['an unknown token', async () => bearer(`mcp_at_${randomBytes(32).toString('base64url')}`)],
      ['a malformed token', async () => bearer('mcp_at_short')],
      ['two tokens', async () => bearer(`${alpha.owner.token} ${alpha.owner.token}`)],
      ['Basic credentials', async () => ({ authorization: `Basic ${btoa(`${alpha.owner.email}:none`)}` })],
      ['a refresh token', async () => bearer(alpha.owner.token.replace('mcp_at_', 'mcp_rt_'))],
      ['a token in the wrong case', async () => bearer(alpha.owner.token.toUpperCase())],
      ['an expired token', async () => bearer((await mint({ ttlMs: -1_000 })).token)],
      [
        'a token for another service',
        async () => bearer((await mint({ resource: 'https://elsewhere.example.org/api' })).token),
      ],
      [
        'a revoked connection',
        async () => {
          const { token, connectionId } = await mint();
          await revokeConnection(database.store.db, connectionId, 'user');
          return bearer(token);
        },
      ],
      [
        'a removed member',
        async () => {
          const { token, userId } = await mint();
          await database.db.deleteFrom('memberships').where('user_id', '=', userId).execute();
          return bearer(token);
        },
      ],
      [
        'a disabled user',
        async () => {
          const { token, userId } = await mint();
          await database.db
            .updateTable('users')
            .set({ disabled_at: new Date(0).toISOString() })
            .where('id', '=', userId)
            .execute();
          return bearer(token);
        },
      ],
    ])('%s', async (_what, headersOf) => {
      const seen = await seeAll(await headersOf());
      for (const { what, status, text } of seen) {
        expect([what, status]).toEqual([what, 401]);
        expect(text).not.toMatch(/ALPHA|BETA|same/);
        expect(['AUTH_REQUIRED', 'AUTH_FAILED']).toContain(JSON.parse(text).code);
      }
      // Every read is refused in the same words.
      expect(new Set(seen.map(({ text }) => text)).size).toBe(1);
    });
  });

  test('a member who is removed while connected sees nothing from the next request on', async () => {
    const ann = await mintConnection(database.owner, { tenantId: alpha.tenant.id, role: 'owner' });
    expect((await get('/api/cli/bootstrap', bearer(ann.token))).status).toBe(200);
    await database.db.deleteFrom('memberships').where('user_id', '=', ann.userId).execute();
    expect((await get('/api/cli/bootstrap', bearer(ann.token))).status).toBe(401);
  });

  test('a token decides the organisation: no parameter or header names another one', async () => {
    const headers = { ...bearer(alpha.owner.token), 'x-tenant-id': String(beta.tenant.id) };
    for (const { text } of [
      await get(`/api/cli/issues?repo=${SLUG}&tenant=${beta.tenant.id}&tenantId=${beta.tenant.id}`, headers),
      await use('list_issues', { repo: SLUG }, headers),
    ]) {
      expect(text).toContain('ALPHA');
      expect(text).not.toContain('BETA');
    }
    const named = await use('list_issues', { repo: SLUG, tenantId: beta.tenant.id }, headers);
    expect(named.text).toContain('Unrecognized key');
    expect(named.text).not.toMatch(/ALPHA|BETA/);
  });
});

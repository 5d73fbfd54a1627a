import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  ANNA,
  BOT,
  createSandboxEnvironment,
  openIssue,
  REPO,
  type SandboxEnvironment,
} from '@pipeline/testing/sandbox';
import { createGitHubHost } from '../src/github/index.ts';
import { HostError } from '../src/index.ts';

let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment();
  for (let n = 1; n <= 105; n += 1) await openIssue(environment, `Issue ${n}`);
});
afterAll(() => environment.end());

describe('the pushes of a branch', () => {
  /** Host with that many pages of 100 pushes, each page by another account. */
  const hostWith = (pages: number) =>
    environment.as(BOT.token, {
      fetch: async (url) => {
        const page = Number(new URL(String(url)).searchParams.get('after') ?? 1);
        const next = `<${environment.sandbox.url}/repos/acme/shop/activity?after=${page + 1}>; rel="next"`;
        const headers = { 'content-type': 'application/json', ...(page < pages && { link: next }) };
        const push = { ref: 'refs/heads/svc/issue-1', actor: { login: `pusher-${page}` } };
        const answer = new Response(JSON.stringify(Array.from({ length: 100 }, () => push)), { headers });
        Object.defineProperty(answer, 'url', { value: String(url) });
        return answer;
      },
    });

  test('pushers name every account when they take several pages', async () => {
    const pushers = await hostWith(3).pushersOf(REPO, 'svc/issue-1');
    expect(pushers).toEqual(['pusher-1', 'pusher-2', 'pusher-3']);
  });

  test('pushers are unknown when there are more than can be read', async () => {
    await expect(hostWith(11).pushersOf(REPO, 'svc/issue-1')).rejects.toThrow('more than 1000 pushes');
  });
});

test('an identity is a person when the account of its token is one', async () => {
  expect(await environment.as(ANNA.token).isPerson()).toBe(true);
  expect(await environment.as(BOT.token).isPerson()).toBe(false);
});

describe('polling', () => {
  test('reads every page, oldest change first, and pull requests apart', async () => {
    await environment.push('feature', 'feature.txt', 'x\n');
    const pull = { title: 'A pull request', head: 'feature', base: 'main' };
    const { data } = await environment.api('POST', '/repos/acme/shop/pulls', pull);
    const { number } = data as { number: number };
    const page = await environment.host.listIssues(REPO, { state: 'all' });
    expect(page?.issues).toHaveLength(105);
    expect(page?.changedPullRequests).toEqual([{ number, updatedAt: expect.any(String) }]);
    const times = page?.issues.map((issue) => issue.updatedAt) ?? [];
    expect(times).toEqual([...times].sort());
    expect(await environment.host.getIssue(REPO, number)).toBeNull();
    expect(await environment.host.getIssue(REPO, 100_000)).toBeNull();
    expect(await environment.host.getRepo(REPO)).toMatchObject({ defaultBranch: 'main', private: false });
  });

  test('costs nothing while nothing changes, and sees a change at once', async () => {
    const query = { state: 'all', labels: ['svc:enqueue'] } as const;
    const ask = (etag?: string) =>
      environment.host.listIssues(REPO, { ...query, labels: [...query.labels], ...(etag ? { etag } : {}) });
    const first = await ask();
    expect(first?.issues).toEqual([]);
    expect(await ask(first?.etag ?? '')).toBeNull();
    await environment.execute({ type: 'addLabels', labels: ['svc:enqueue'] }, 7);
    const changed = await ask(first?.etag ?? '');
    expect(changed?.issues).toMatchObject([{ number: 7, labels: ['svc:enqueue'] }]);
  });

  test('refuses a next link to another origin and sends it nothing', async () => {
    const asked: string[] = [];
    const spoofed: typeof fetch = async (url) => {
      asked.push(String(url));
      const headers = { 'content-type': 'application/json', link: '<https://evil.example/repos?page=2>; rel="next"' };
      return new Response('[]', { headers });
    };
    const host = environment.as(BOT.token, { fetch: spoofed });
    await expect(host.listIssues(REPO, { state: 'all' })).rejects.toThrow(/refused a link to https:\/\/evil\.example/);
    expect(asked).toHaveLength(1);
  });
});

/** A host that gives one prepared answer and counts how often it is asked. */
function scripted(answer: () => Response, clientType: 'github' | 'sandbox' = 'github') {
  const calls: string[] = [];
  const now = () => new Date('2026-01-01T00:00:00Z');
  const host = createGitHubHost({
    baseUrl: 'https://api.test',
    token: 'x',
    login: async () => 'bot',
    clientType,
    now,
    userAgent: 'test',
    fetch: async (url, init) => {
      calls.push(`${init?.method} ${url}`);
      return answer();
    },
  });
  return { host, calls };
}
const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const label = { type: 'addLabels', labels: ['x'] } as const;
const run = (host: ReturnType<typeof scripted>['host']) =>
  host.execute(REPO, 1, { ...label, labels: [...label.labels] }, { mayHaveHappened: false });

describe('reads of the host', () => {
  const empty = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1767225900' };
  test.each([
    { name: 'Retry-After', status: 403, headers: { 'retry-after': '30' }, retryAt: '2026-01-01T00:00:30.000Z' },
    {
      name: 'an HTTP date',
      status: 429,
      headers: { 'retry-after': 'Thu, 01 Jan 2026 00:02:00 GMT' },
      retryAt: '2026-01-01T00:02:00.000Z',
    },
    { name: 'an empty budget', status: 403, headers: empty, retryAt: '2026-01-01T00:05:01.000Z' },
    {
      name: 'a secondary limit',
      status: 403,
      message: 'You have exceeded a secondary rate limit',
      retryAt: '2026-01-01T00:01:00.000Z',
    },
    { name: 'a bare 429', status: 429, retryAt: '2026-01-01T00:01:00.000Z' },
  ])('$name comes back at once with the time to try again', async ({ status, headers, message = 'no', retryAt }) => {
    const { host, calls } = scripted(json(status, { message }, { ...headers }));
    expect(await run(host)).toMatchObject({ status: 'rate-limited', retryAt });
    expect(calls).toHaveLength(1);
    await expect(host.getRepo(REPO)).rejects.toMatchObject({ kind: 'rate-limited', retryAt });
  });

  test.each([
    [403, { status: 'refused', httpStatus: 403 }],
    [410, { status: 'refused', httpStatus: 410 }],
    [422, { status: 'refused', httpStatus: 422, kind: 'other' }],
    [401, { status: 'failed', ambiguous: false }],
    [502, { status: 'failed', ambiguous: false }],
  ])('status %i', async (status, expected) => {
    const { host, calls } = scripted(json(status, { message: 'no' }), 'sandbox');
    expect(await run(host)).toMatchObject(expected);
    expect(calls.filter((call) => call.startsWith('POST'))).toHaveLength(1);
  });

  test('a write to a repo that is hidden, archived or of a suspended installation waits for access', async () => {
    const label404 = json(404, { message: 'Not Found' });
    expect(await run(scripted(label404).host)).toMatchObject({ status: 'no-access' });
    const suspended = json(403, { message: 'This installation has been suspended' });
    expect(await run(scripted(suspended).host)).toMatchObject({ status: 'no-access' });
    const ofRepo = (repo: object) => {
      const answers = [json(403, { message: 'Repository was archived so is read-only.' }), json(200, repo)];
      return scripted(() => (answers.shift() ?? label404)());
    };
    expect(await run(ofRepo({ archived: true }).host)).toMatchObject({
      status: 'no-access',
      message: expect.stringContaining('is archived'),
    });
    expect(await run(ofRepo({ archived: false }).host)).toMatchObject({ status: 'refused', httpStatus: 403 });
  });

  test('a read is repeated when the host stumbles, a write never', async () => {
    const { host, calls } = scripted(json(503, { message: 'down' }), 'sandbox');
    await expect(host.getRepo(REPO)).rejects.toBeInstanceOf(HostError);
    expect(calls).toHaveLength(3);
    const comment = { type: 'postComment', body: 'b', marker: 'm' } as const;
    expect(await host.execute(REPO, 1, comment, { mayHaveHappened: false })).toMatchObject({
      status: 'failed',
      ambiguous: true,
    });
    expect(calls).toHaveLength(4);
  });

  test('half an answer is no answer', async () => {
    const half = () => new Response('{"id": 1, "ht', { status: 201, headers: { 'content-type': 'application/json' } });
    const { host } = scripted(half, 'sandbox');
    const comment = { type: 'postComment', body: 'b', marker: 'm' } as const;
    expect(await host.execute(REPO, 1, comment, { mayHaveHappened: false })).toMatchObject({
      status: 'failed',
      ambiguous: true,
    });
  });

  test('an aborted action is ambiguous', async () => {
    const signal = AbortSignal.abort();
    const comment = { type: 'postComment', body: 'b', marker: 'm' } as const;
    const result = await environment.host.execute(REPO, 1, comment, { mayHaveHappened: false, signal });
    expect(result).toMatchObject({ status: 'failed', ambiguous: true });
  });

  test.each([
    ['dirty', 'Pull Request is not mergeable', { status: 'refused', kind: 'conflict' }],
    ['behind', 'Pull Request is not mergeable', { status: 'refused', kind: 'behind' }],
    ['blocked', 'Repository cannot be merged', { status: 'refused', kind: 'protected' }],
    ['unknown', 'Pull Request is not mergeable', { status: 'failed', ambiguous: false }],
    ['clean', 'Base branch was modified. Review and try the merge again.', { status: 'failed', ambiguous: false }],
    ['clean', 'Required status check "ci" is expected.', { status: 'refused', kind: 'checks' }],
    ['clean', 'Merge commits are not allowed on this repository.', { status: 'refused', kind: 'other' }],
  ])('a merge refused while %s: %s', async (mergeable_state, message, expected) => {
    const pull = { number: 5, state: 'open', merged: false, draft: false, mergeable_state };
    let calls = 0;
    const { host } = scripted(() => {
      calls += 1;
      return calls === 1 ? json(405, { message })() : json(200, pull)();
    }, 'sandbox');
    const merge = { type: 'mergePR', prNumber: 5, method: 'merge', expectedHeadSha: 'a'.repeat(40) } as const;
    expect(await host.execute(REPO, 1, merge, { mayHaveHappened: false })).toMatchObject(expected);
  });
});

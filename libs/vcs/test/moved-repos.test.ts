/** Repositories that were renamed or transferred, and others that took their names. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProjectionAction, RepoRef, VcsHost } from '@pipeline/domain';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import { APP_KEY, BOT, createSandboxEnvironment, type SandboxEnvironment, shopApp } from '@pipeline/testing/sandbox';
import { createGitHubAppHost, createGitHubHost } from '@pipeline/vcs/github';

const OWNER = { login: 'acme', token: 'acme-token-1' };
const GLOBEX = { login: 'globex', token: 'globex-token-1' };
let environment: SandboxEnvironment;
beforeAll(async () => {
  environment = await createSandboxEnvironment({ repos: [], users: [BOT, OWNER, GLOBEX] });
});
afterAll(() => environment.end());

let name: string;
/** The repository as it was before it moved, with its id. */
let known: RepoRef & { hostId: number };
let issue: number;
let serial = 0;
beforeEach(async () => {
  serial += 1;
  name = `cart-${serial}`;
  await add(`acme/${name}`);
  const { id } = (await asOwner('GET', `/repos/acme/${name}`)) as { id: number };
  known = { owner: 'acme', name, hostId: id };
  issue = ((await asOwner('POST', `/repos/acme/${name}/issues`, { title: 'Mine' })) as { number: number }).number;
  environment.exchanges.length = 0;
});
const add = (slug: string) => environment.sandbox.addRepo({ slug, collaborators: { [BOT.login]: 'write' } });
const asOwner = async (method: string, path: string, body?: unknown) =>
  (await environment.api(method, path, body, OWNER.token)).data;
const rename = () => asOwner('PATCH', `/repos/acme/${name}`, { name: `${name}-new` });
const byName = () => ({ owner: 'acme', name });
const comment = (marker: string) => ({ type: 'postComment', body: 'Hello', marker }) as const;
const context = { mayHaveHappened: false };

describe('a repository whose id is known', () => {
  test('reads and writes it under its old name after it was renamed', async () => {
    await rename();
    const { host } = environment;
    expect(await host.getRepo(known)).toMatchObject({ id: known.hostId, name: `${name}-new`, archived: false });
    expect(await host.getIssue(known, issue)).toMatchObject({ title: 'Mine' });
    expect(await host.execute(known, issue, comment('m1'), context)).toMatchObject({ status: 'ok' });
    expect(await host.listComments(known, issue)).toHaveLength(1);
    expect(await host.historyOf(known, issue)).toMatchObject({ events: [] });
  });

  test('never confuses it with another one that took its name', async () => {
    await rename();
    await add(`acme/${name}`);
    await asOwner('POST', `/repos/acme/${name}/issues`, { title: 'Of the new one' });
    const { host } = environment;
    expect(await host.getIssue(known, 1)).toMatchObject({ title: 'Mine' });
    expect(await host.execute(known, 1, comment('m2'), context)).toMatchObject({ status: 'ok' });
    expect(await host.listComments(byName(), 1)).toEqual([]);
    expect(environment.exchanges.map(({ url }) => url).filter((url) => url.includes(`/repos/acme/${name}/`))).toEqual([
      expect.stringMatching(/\/comments/),
    ]);
  });

  test('ignores edits of a body from the issue of another one that took its name', async () => {
    await rename();
    await add(`acme/${name}`);
    await asOwner('POST', `/repos/acme/${name}/issues`, { title: 'Other' });
    await asOwner('PATCH', `/repos/acme/${name}/issues/1`, { body: 'edited by somebody' });
    expect(await environment.host.historyOf(byName(), 1)).toMatchObject({ bodyEdit: { editor: 'acme' } });
    expect(await environment.host.historyOf(known, 1)).toMatchObject({ bodyEdit: null });
  });

  test('lists its issues page by page', async () => {
    for (let n = 0; n < 101; n += 1) await asOwner('POST', `/repos/acme/${name}/issues`, { title: `Issue ${n}` });
    await rename();
    expect((await environment.host.listIssues(known, { state: 'open' }))?.issues).toHaveLength(102);
    const listed = environment.exchanges.filter(({ url }) => url.includes('/issues?'));
    expect(listed).toHaveLength(2);
    for (const { url } of listed) expect(url).toMatch(new RegExp(`/repositories/${known.hostId}/issues\\?(?!.*by_id)`));
  });

  test('does not exist any more when it was deleted', async () => {
    await asOwner('DELETE', `/repos/acme/${name}`);
    await add(`acme/${name}`);
    expect(await environment.host.getRepo(known)).toBeNull();
    const result = await environment.host.execute(known, issue, comment('m3'), context);
    expect(result).toMatchObject({ status: 'no-access' });
  });
});

describe('a repository whose id is not known', () => {
  test('reads it under its new name after it was renamed, and its writes wait', async () => {
    await rename();
    const { host } = environment;
    expect(await host.getRepo(byName())).toMatchObject({ id: known.hostId, name: `${name}-new` });
    const result = await host.execute(byName(), issue, comment('m4'), context);
    expect(result).toMatchObject({ status: 'no-access', message: expect.stringContaining('renamed or transferred') });
    expect(await host.listComments(known, issue)).toEqual([]);
  });
});

describe('a repository that an app reaches', () => {
  const appHost = () =>
    createGitHubAppHost({
      baseUrl: environment.sandbox.url,
      appId: '77',
      privateKey: APP_KEY.privateKey,
      clientType: 'sandbox',
      userAgent: 'test',
      now: () => new Date(),
    });
  const transfer = () => asOwner('POST', `/repos/acme/${name}/transfer`, { new_owner: 'globex' });
  const installAt = (owners: string[]) =>
    environment.sandbox.addApp({ id: 77, slug: 'pipeline', publicKey: APP_KEY.publicKey, owners });

  test('reads and writes it after it was renamed and another one took its name', async () => {
    const host = appHost();
    await host.getIssue(known, issue);
    await rename();
    await add(`acme/${name}`);
    expect(await host.getRepo(known)).toMatchObject({ name: `${name}-new` });
    expect(await host.execute(known, issue, comment('m5'), context)).toMatchObject({ status: 'ok' });
  });

  test('finds it in the installation of its new owner after it was transferred', async () => {
    const host = appHost();
    expect(await host.getRepo(known)).toMatchObject({ owner: 'acme' });
    installAt(['acme', 'globex']);
    await transfer();
    expect(await host.getRepo(known)).toMatchObject({ owner: 'globex', name });
    expect(await host.execute(known, issue, comment('m6'), context)).toMatchObject({ status: 'ok' });
  });

  test('issues tokens for git to it, and none for another one that took its name', async () => {
    const app = shopApp(environment);
    const request = { repo: known, installationId: null, permissions: { contents: 'read' } } as const;
    await rename();
    await add(`acme/${name}`);
    const { token } = await app.accessTo(request);
    const read = async (path: string) => (await environment.api('GET', path, undefined, token)).status;
    expect(await read(`/repositories/${known.hostId}`)).toBe(200);
    expect(await read(`/repos/acme/${name}`)).toBe(404);
  });

  test('issues tokens of the installation of its new owner when the known one is of the former', async () => {
    const app = shopApp(environment);
    const former = await installationOf();
    installAt(['acme', 'globex']);
    await transfer();
    const request = { repo: known, installationId: former, permissions: { contents: 'read' } } as const;
    expect(await app.accessTo(request)).toMatchObject({ token: expect.stringMatching(/^ghs_/) });
  });
});

/** The number of the installation of acme. */
async function installationOf(): Promise<number> {
  const { createAppAuth } = await import('@octokit/auth-app');
  const { token } = await createAppAuth({ appId: '77', privateKey: APP_KEY.privateKey })({ type: 'app' });
  const { data } = await environment.api('GET', `/repos/acme/${name}/installation`, undefined, token);
  return (data as { id: number }).id;
}

describe('an issue that was transferred to another repository', () => {
  const MOVED = { title: 'Of another repository', state: 'closed', labels: [], user: { login: 'anna' } };
  /** Host that has transferred issue 1 of repository 7 to repository 8 as issue 1, and issue 2 as issue 5. */
  const written: string[] = [];
  const server = createServer(({ url = '', method = '' }, response) => {
    const isRead = method === 'GET';
    if (!isRead) written.push(url);
    const [, repo, number] = /^\/(repos\/acme\/cart|repositories\/\d+)\/issues\/(\d+)/.exec(url) ?? [];
    if (repo === 'repositories/8') return response.end(JSON.stringify({ ...MOVED, number: Number(number) }));
    const location = `/repositories/8/issues/${number === '1' ? 1 : 5}`;
    response
      .writeHead(isRead ? 301 : 307, { location })
      .end(JSON.stringify({ message: 'Moved Permanently', url: location }));
  });
  serverClosedWithFile(server);
  let host: VcsHost;
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const now = () => new Date('2026-03-01T00:00:00Z');
    host = createGitHubHost({ baseUrl, token: 't', clientType: 'sandbox', userAgent: 'test', now });
  });

  test.each([1, 2])('the issue is not here, whatever number it has there (#%d)', async (number) => {
    const repo = { owner: 'acme', name: 'cart', hostId: 7 };
    expect(await host.getIssue(repo, number)).toBeNull();
    expect(await host.standingOf(repo, number)).toEqual({ state: 'missing', etag: null });
  });

  const WRITES: [ProjectionAction, issue: number][] = [
    [{ type: 'closeIssue', reason: 'completed', comment: 'Done.' }, 1],
    [{ type: 'reopenIssue' }, 2],
    [{ type: 'addLabels', labels: ['svc:planning'] }, 1],
    [{ type: 'removeLabels', labels: ['svc:planning'] }, 2],
    [{ type: 'postComment', body: 'Hello', marker: 'm' }, 1],
    [{ type: 'linkSubIssue', parentIssueNumber: 3, childIssueNumber: 1 }, 3],
    [{ type: 'assignIssue', assignees: ['anna'] }, 2],
  ];
  test.each(WRITES)(
    'the host write %j reaches no other issue, and no other write waits for it',
    async (action, number) => {
      written.length = 0;
      const repo = { owner: 'acme', name: 'cart', hostId: 7 };
      expect(await host.execute(repo, number, action, context)).toMatchObject({ status: 'refused', httpStatus: 404 });
      expect(written.filter((url) => url.startsWith('/repositories/8'))).toEqual([]);
    },
  );

  test('an issue under another number is not here when the id of the repository is unknown', async () => {
    expect(await host.getIssue({ owner: 'acme', name: 'cart' }, 2)).toBeNull();
  });
});

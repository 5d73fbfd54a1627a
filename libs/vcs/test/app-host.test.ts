import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  ANNA,
  APP_KEY,
  createSandboxEnvironment,
  openIssue,
  REPO,
  recordingFetch,
  type SandboxEnvironment,
} from '@pipeline/testing/sandbox';
import { createGitHubAppHost } from '@pipeline/vcs/github';

let environment: SandboxEnvironment;
let clock = () => new Date();
beforeAll(async () => {
  environment = await createSandboxEnvironment({
    repos: [
      { slug: 'acme/shop', private: true, collaborators: { anna: 'write' } },
      { slug: 'acme/till', private: true },
      { slug: 'other/shop' },
    ],
    now: () => clock(),
  });
});
afterAll(() => environment.end());
beforeEach(() => {
  environment.exchanges.length = 0;
  clock = () => new Date();
});

const appHost = (more: { appId?: string } = {}) =>
  createGitHubAppHost({
    baseUrl: environment.sandbox.url,
    appId: '77',
    privateKey: APP_KEY.privateKey,
    clientType: 'sandbox',
    userAgent: 'test',
    fetch: recordingFetch(environment.exchanges),
    now: () => clock(),
    ...more,
  });
const tokenRequests = () => environment.exchanges.filter(({ url }) => url.endsWith('/access_tokens')).length;
const lookups = () => environment.exchanges.filter(({ url }) => url.endsWith('/installation')).length;
const OTHER = { owner: 'other', name: 'shop' };

describe('a host accessed as a GitHub App', () => {
  test('writes under the name of the app when it posts a comment', async () => {
    const [host, issue] = [appHost(), await openIssue(environment)];
    const comment = { type: 'postComment', body: 'Hello', marker: 'm1' } as const;
    expect(await host.execute(REPO, issue, comment, { mayHaveHappened: false })).toMatchObject({ status: 'ok' });
    const [posted] = await host.listComments(REPO, issue);
    expect(posted?.author).toBe('pipeline[bot]');
    expect(await host.login()).toBe('pipeline[bot]');
    expect(await host.isPerson()).toBe(false);
  });

  test('reads issues, their history and permissions when the repo is private', async () => {
    const [host, issue] = [appHost(), await openIssue(environment, 'Read me')];
    expect(await host.getRepo(REPO)).toMatchObject({ name: 'shop', private: true });
    expect(await host.getIssue(REPO, issue)).toMatchObject({ title: 'Read me' });
    expect(await host.historyOf(REPO, issue)).toEqual({ events: [], bodyEdit: null });
    expect(await host.permissionOf(REPO, ANNA.login)).toBe('write');
  });

  test('sends one token request when many reads of two repos start together', async () => {
    const host = appHost();
    const till = { owner: 'acme', name: 'till' };
    await Promise.all([REPO, REPO, till, REPO, till].map((repo) => host.getRepo(repo)));
    expect(tokenRequests()).toBe(1);
    expect(lookups()).toBe(2);
  });

  test('replaces its token when less than 5 minutes are left', async () => {
    const host = appHost();
    await host.getRepo(REPO);
    const start = Date.now();
    clock = () => new Date(start + 54 * 60_000);
    await host.getRepo(REPO);
    expect(tokenRequests()).toBe(1);
    clock = () => new Date(start + 55 * 60_000 + 2_000);
    await host.getRepo(REPO).catch(() => undefined);
    expect(tokenRequests()).toBe(2);
  });

  test.each(['GET', 'POST'])('repeats a %s with a new token when the host answers 401', async (method) => {
    const [host, issue] = [appHost(), await openIssue(environment)];
    await host.getIssue(REPO, issue);
    environment.sandbox.failNext({ status: 401, match: { method, path: '/comments' } });
    const comment = { type: 'postComment', body: 'Again', marker: 'm2' } as const;
    if (method === 'POST')
      expect(await host.execute(REPO, issue, comment, { mayHaveHappened: false })).toMatchObject({ status: 'ok' });
    expect(await host.listComments(REPO, issue)).toHaveLength(method === 'POST' ? 1 : 0);
    expect(tokenRequests()).toBe(2);
  });

  test('reports the rejected credentials when a new token is rejected too', async () => {
    const host = appHost();
    environment.sandbox.failNext({ status: 401, match: { path: '/repos/acme/shop/issues' }, times: 2 });
    await expect(host.getIssue(REPO, 1)).rejects.toMatchObject({ kind: 'unauthorized' });
  });
});

describe('a repo without an installation', () => {
  test('a read and a write report that the app is not installed', async () => {
    const host = appHost();
    const missing = { kind: 'no-access', message: expect.stringContaining('not installed on other/shop') };
    await expect(host.getIssue(OTHER, 1)).rejects.toMatchObject(missing);
    const comment = { type: 'postComment', body: 'Hello', marker: 'm3' } as const;
    expect(await host.execute(OTHER, 1, comment, { mayHaveHappened: false })).toMatchObject({
      status: 'no-access',
      message: missing.message,
    });
    expect(await host.getRepo(OTHER)).toBeNull();
  });

  test('does not make an issue count as missing when its state is read', async () => {
    await expect(appHost().standingOf(OTHER, 1)).rejects.toMatchObject({ kind: 'no-access' });
  });

  test('looks the installation up again when the app may have been installed since', async () => {
    const host = appHost();
    await expect(host.getIssue(OTHER, 1)).rejects.toMatchObject({ kind: 'no-access' });
    await expect(host.getIssue(OTHER, 1)).rejects.toMatchObject({ kind: 'no-access' });
    expect(lookups()).toBe(2);
  });
});

test('reports an unknown app when its id is wrong', async () => {
  await expect(appHost({ appId: '79' }).login()).rejects.toMatchObject({ kind: 'not-found' });
});

import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RepoPermissions } from '@pipeline/domain';
import { APP_KEY, createSandboxEnvironment, REPO, type SandboxEnvironment, shopApp } from '@pipeline/testing/sandbox';
import { SignJWT } from 'jose';

let environment: SandboxEnvironment;
let clock: Date | null = null;
beforeAll(async () => {
  environment = await createSandboxEnvironment({
    repos: [{ slug: 'acme/shop', private: true }, { slug: 'acme/till', private: true }, { slug: 'other/shop' }],
    now: () => clock ?? new Date(),
  });
});
afterAll(() => environment.end());

const access = (permissions: RepoPermissions = { contents: 'read' }, more = {}) =>
  shopApp(environment, more).accessTo({ repo: REPO, installationId: null, permissions });
const remote = (token: string, slug = 'acme/shop') =>
  `${environment.sandbox.url.replace('//', `//x-access-token:${token}@`)}/${slug}.git`;
const git = (...args: string[]) => environment.git(['-c', 'credential.helper=', ...args]);

describe('a token of an installation', () => {
  test('lets git read its repo and no other', async () => {
    const { token, username } = await access();
    expect(username).toBe('x-access-token');
    expect(await git('ls-remote', remote(token))).toContain('refs/heads/');
    await expect(git('ls-remote', remote(token, 'acme/till'))).rejects.toThrow(/not found/i);
    await expect(git('ls-remote', remote('ghs_unknown'))).rejects.toThrow(/Authentication failed/);
  });

  test('a token to read does not push; one to write does, as the app', async () => {
    const [reads, writes] = [await access(), await access({ contents: 'write' })];
    const dir = `${environment.dir}/pushed`;
    await git('clone', '-q', remote(reads.token), dir);
    await environment.git(['checkout', '-qb', 'work'], dir);
    await environment.git(['commit', '-qm', 'work', '--allow-empty'], dir);
    await expect(environment.git(['push', '-q', 'origin', 'work'], dir)).rejects.toThrow(/403/);
    await environment.git(['push', '-q', remote(writes.token), 'work'], dir);
    expect(await git('ls-remote', remote(reads.token), 'work')).toContain('refs/heads/work');
  });

  test('reaches of the API what it was made for, and nothing of a person', async () => {
    const { token } = await access({ contents: 'read', issues: 'read' });
    const status = async (method: string, path: string, body?: unknown) =>
      (await environment.api(method, path, body, token)).status;
    expect(await status('GET', '/repos/acme/shop')).toBe(200);
    expect(await status('GET', '/repos/acme/shop/issues')).toBe(200);
    expect(await status('POST', '/repos/acme/shop/issues', { title: 't' })).toBe(403);
    expect(await status('GET', '/repos/acme/shop/pulls')).toBe(403);
    expect(await status('GET', '/repos/acme/till')).toBe(404);
    expect(await status('GET', '/user')).toBe(403);
  });

  test('ends after an hour', async () => {
    const { token } = await access();
    clock = new Date(Date.now() + 60 * 60_000 + 1);
    await expect(git('ls-remote', remote(token))).rejects.toThrow(/Authentication failed/);
    clock = null;
  });

  test('makes one token for equal requests, and another when little of its hour is left', async () => {
    let now = new Date();
    const app = shopApp(environment, { now: () => now });
    const ask = () => app.accessTo({ repo: REPO, installationId: null, permissions: { contents: 'read' } });
    const first = await ask();
    expect((await ask()).token).toBe(first.token);
    now = new Date(Date.now() + 11 * 60_000);
    expect((await ask()).token).not.toBe(first.token);
  });

  test('survives an installation that has another number now', async () => {
    const app = shopApp(environment);
    const permissions = { contents: 'read' } as const;
    const { token } = await app.accessTo({ repo: REPO, installationId: 424242, permissions });
    expect(await git('ls-remote', remote(token))).toContain('refs/heads/');
  });
});

describe('an issuer', () => {
  const repo = (owner: string, name: string) => ({
    repo: { owner, name },
    installationId: null,
    permissions: { contents: 'read' as const },
  });

  test('reports that the app is not installed on a repo, or that there is none', async () => {
    const app = shopApp(environment);
    await expect(app.accessTo(repo('other', 'shop'))).rejects.toMatchObject({ kind: 'not-found', httpStatus: 404 });
    await expect(app.accessTo(repo('acme', 'nothing'))).rejects.toMatchObject({ kind: 'not-found' });
  });

  test('reports that its key is not that of the app', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await expect(access({}, { privateKey: pem })).rejects.toMatchObject({ kind: 'unauthorized' });
    await expect(access({}, { appId: '79' })).rejects.toMatchObject({ kind: 'not-found' });
  });

  test('reports that the installation lacks a right', async () => {
    const permissions = { metadata: 'write' } as const;
    await expect(access(permissions)).rejects.toMatchObject({ kind: 'refused', httpStatus: 422 });
  });

  test('reports that the host is away, without the key or a token in the error', async () => {
    environment.sandbox.failNext({ status: 502, match: { path: '/installation' }, times: 3 });
    const error = await access().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(JSON.stringify(error)).not.toContain('eyJ');
  });
});

describe('an assertion', () => {
  const ask = async (claims: { iat: number; exp: number }) => {
    const signing = new SignJWT({ ...claims, iss: '77' }).setProtectedHeader({ alg: 'RS256' });
    const assertion = await signing.sign(createPrivateKey(APP_KEY.privateKey));
    return (await environment.api('GET', '/repos/acme/shop/installation', undefined, assertion)).status;
  };

  test('holds for ten minutes at most, and not after its end', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    expect(await ask({ iat: seconds, exp: seconds + 300 })).toBe(200);
    expect(await ask({ iat: seconds, exp: seconds + 900 })).toBe(401);
    expect(await ask({ iat: seconds - 900, exp: seconds - 300 })).toBe(401);
  });

  test('requires an assertion: no token of a person suffices', async () => {
    expect((await environment.api('GET', '/repos/acme/shop/installation')).status).toBe(401);
    expect((await environment.api('POST', '/app/installations/1/access_tokens', {})).status).toBe(401);
  });
});

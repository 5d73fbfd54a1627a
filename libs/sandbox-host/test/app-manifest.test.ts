/** Registration of an app from a manifest, its installation and its webhook. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { APP_EVENTS, APP_PERMISSIONS } from '@pipeline/domain';
import {
  ANNA,
  createSandboxEnvironment,
  openIssue,
  openPage,
  postRegistration,
  REPO,
  type SandboxEnvironment,
  submitForm,
} from '@pipeline/testing/sandbox';
import { createSignatureCheck, parseWebhook } from '@pipeline/vcs';
import { createGitHubApp, createGitHubAppHost, createGitHubDiagnostics } from '@pipeline/vcs/github';

const OWNER = { login: 'acme', token: 'acme-token-1' };
const HOUR_MS = 3_600_000;

interface Delivery {
  event: string;
  body: string;
  signature: string;
}
let environment: SandboxEnvironment;
let clock = () => new Date();
const deliveries: Delivery[] = [];
const receiver = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.on('end', () => {
    const { 'x-github-event': event, 'x-hub-signature-256': signature } = req.headers;
    deliveries.push({ event: String(event), signature: String(signature), body: Buffer.concat(chunks).toString() });
    res.writeHead(204).end();
  });
});
let hookUrl = '';
beforeAll(async () => {
  environment = await createSandboxEnvironment({
    users: [OWNER, ANNA],
    repos: [
      { slug: 'acme/shop', private: true, collaborators: { anna: 'write' } },
      { slug: 'acme/till', private: true, collaborators: { anna: 'write' } },
    ],
    now: () => clock(),
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  hookUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
});
afterAll(async () => {
  await environment.end();
  receiver.close();
});

const manifestOf = (more: object = {}) => ({
  name: 'Shop pipeline',
  url: 'https://pipeline.example.org',
  redirect_url: 'http://127.0.0.1:1/callback',
  default_permissions: APP_PERMISSIONS,
  ...more,
});
const post = (manifest: unknown, path = '/settings/apps/new?state=s1') =>
  postRegistration({
    action: `${environment.sandbox.url}${path}`,
    manifest: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
  });
const codeFor = async (name: string, more: object = {}): Promise<string> => {
  const { location } = await submitForm(await post(manifestOf(more)), { name, token: OWNER.token });
  return new URL(location ?? '').searchParams.get('code') ?? '';
};
const convert = async (code: string) => {
  const response = await fetch(`${environment.sandbox.url}/app-manifests/${code}/conversions`, { method: 'POST' });
  // biome-ignore lint/suspicious/noExplicitAny: the form is checked by the tests of libs/vcs.
  return { status: response.status, data: (await response.json()) as any };
};

describe('a manifest', () => {
  test.each([
    ['{', 'not valid JSON'],
    [{ redirect_url: 'http://127.0.0.1:1/' }, '"url" wasn&#39;t supplied'],
    [{ ...manifestOf(), hook_attributes: { active: false } }, '"url" wasn&#39;t supplied'],
    [{ ...manifestOf(), default_events: ['installation'] }, 'Default events unsupported: installation'],
    [
      { ...manifestOf(), default_permissions: { issues: 'read' }, default_events: ['status'] },
      'Default events are not supported by permissions: status',
    ],
    [{ ...manifestOf(), default_events: ['issues'] }, 'Hook url cannot be blank'],
    [{ ...manifestOf(), default_permissions: { everything: 'write' } }, 'default_permissions'],
  ])('refuses a manifest in the words of the host when it is %j', async (manifest, words) => {
    const { status, text } = await post(manifest);
    expect(status).toBe(422);
    expect(text.replaceAll('&quot;', '"')).toContain(words);
  });

  test('leads to a page that shows permissions, and back to the program with code and state', async () => {
    const page = await post(manifestOf({ name: '<b>Bold</b>' }));
    expect(page.text).toContain('<li>pull_requests: write</li>');
    expect(page.text).not.toContain('<b>');
    const { status, location } = await submitForm(page, { name: 'First', token: OWNER.token });
    expect([status, location]).toEqual([
      302,
      expect.stringMatching(/^http:\/\/127.0.0.1:1\/callback\?code=[0-9a-f]{40}&state=s1$/),
    ]);
  });

  test('only the account or an administrator of its repositories confirms a manifest', async () => {
    const wrong = await submitForm(await post(manifestOf()), { name: 'Second', token: 'no-such-token' });
    expect([wrong.status, wrong.location]).toEqual([401, null]);
    expect(wrong.text).toContain('Bad credentials');
    const page = await post(manifestOf(), '/organizations/acme/settings/apps/new');
    const denied = await submitForm(page, { name: 'Second', token: ANNA.token });
    expect([denied.status, denied.location]).toEqual([403, null]);
    expect((await submitForm(denied, { name: 'Second', token: OWNER.token })).status).toBe(302);
  });

  test('refuses a manifest when the name of the app is taken', async () => {
    await codeFor('Taken');
    const { status, text } = await submitForm(await post(manifestOf()), { name: 'taken', token: OWNER.token });
    expect(status).toBe(422);
    expect(text).toContain('Name has already been taken');
  });
});

describe('a code', () => {
  test('exchanges a code for the secrets once', async () => {
    const code = await codeFor('Once');
    const first = await convert(code);
    expect(first).toMatchObject({
      status: 201,
      data: { slug: 'once', webhook_secret: null, owner: { login: 'acme' } },
    });
    expect(first.data.pem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n/);
    expect((await convert(code)).status).toBe(404);
    expect((await convert('0'.repeat(40))).status).toBe(404);
  });

  test('refuses a code that is older than an hour', async () => {
    const [early, late] = [await codeFor('Early'), await codeFor('Late')];
    const start = Date.now();
    clock = () => new Date(start + HOUR_MS - 5_000);
    expect((await convert(early)).status).toBe(201);
    clock = () => new Date(start + HOUR_MS + 5_000);
    expect((await convert(late)).status).toBe(404);
    clock = () => new Date();
  });
});

describe('an app from a manifest', () => {
  const optionsOf = ({ id, pem }: { id: number; pem: string }) => ({
    baseUrl: `${environment.sandbox.url}/api/v3`,
    appId: String(id),
    privateKey: pem,
    clientType: 'sandbox' as const,
    userAgent: 'test',
    now: () => new Date(),
  });
  const hostOf = (app: { id: number; pem: string }) => createGitHubAppHost(optionsOf(app));
  const appOf = (app: { id: number; pem: string }) => createGitHubApp(optionsOf(app));
  const install = async (slug: string, repositories: string, token = OWNER.token) =>
    submitForm(await openPage(`${environment.sandbox.url}/apps/${slug}/installations/new`), { repositories, token });

  test('reads the repositories that it is installed on, and no others', async () => {
    const { data } = await convert(await codeFor('Reader'));
    const host = hostOf(data);
    expect(await host.getRepo(REPO)).toBeNull();
    expect((await install('reader', 'acme/none')).status).toBe(422);
    expect((await install('reader', 'shop', ANNA.token)).status).toBe(403);
    expect((await install('reader', 'shop')).status).toBe(200);
    expect(await host.getRepo(REPO)).toMatchObject({ name: 'shop', private: true });
    const till = { owner: 'acme', name: 'till' };
    expect(await host.getRepo(till)).toBeNull();
    const access = appOf(data).accessTo({ repo: till, installationId: null, permissions: { contents: 'read' } });
    await expect(access).rejects.toMatchObject({ kind: 'not-found' });
    await install('reader', '');
    expect(await hostOf(data).getRepo(till)).toMatchObject({ name: 'till' });
  });

  test('gets signed events of its repositories when it has a webhook', async () => {
    const more = { hook_attributes: { url: hookUrl }, default_events: APP_EVENTS };
    const { data } = await convert(await codeFor('Listener', more));
    await openIssue(environment, 'Before the installation');
    await install('listener', 'shop');
    await openIssue(environment, 'After it');
    await environment.api('POST', '/repos/acme/till/issues', { title: 'Elsewhere' }, ANNA.token);
    await install('listener', 'till');
    await environment.sandbox.flushWebhooks();
    const parsed = deliveries.map(({ event, body }) => [event, parseWebhook(event, JSON.parse(body))]);
    expect(parsed).toMatchObject([
      ['installation', [{ kind: 'repositories', added: [{ name: 'shop' }], removed: [] }]],
      ['issues', [{ kind: 'issue', issue: { title: 'After it' } }]],
      ['installation_repositories', [{ kind: 'repositories', added: [{ name: 'till' }], removed: [] }]],
      ['installation_repositories', [{ kind: 'repositories', added: [], removed: [{ name: 'shop' }] }]],
    ]);
    const check = createSignatureCheck(data.webhook_secret);
    expect(await Promise.all(deliveries.map(({ body, signature }) => check(body, signature)))).not.toContain(false);
  });

  test('the app sees its own webhook, and the repository only its own', async () => {
    const more = { hook_attributes: { url: `${hookUrl}own` }, default_events: APP_EVENTS };
    const { data } = await convert(await codeFor('Owner of a hook', more));
    await install('owner-of-a-hook', 'shop');
    const app = { appId: String(data.id), privateKey: data.pem };
    const diagnostics = createGitHubDiagnostics({ ...optionsOf(data), app });
    expect(await diagnostics.webhooks(REPO)).toMatchObject([{ url: `${hookUrl}own` }]);
    expect((await environment.api('GET', '/repos/acme/shop/hooks', undefined, OWNER.token)).data).toEqual([]);
  });
});

/** Serving of the built pages: to whom, under which policy, and which files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PASSWORD, testOauth } from '../oauth/oauth-world.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const folder = mkdtempSync(join(tmpdir(), 'hosted-web-'));
const webDir = join(folder, 'dist');
const world = testOauth({ webDir });
let cookie = '';

beforeAll(async () => {
  mkdirSync(join(webDir, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(webDir, 'index.html'), '<!doctype html><title>built</title>');
  writeFileSync(join(webDir, 'assets', 'app-1a2b.js'), 'let a;');
  const browser = world.browser();
  await browser.open('/account/login?return_to=%2F');
  const { email } = await world.person('acme');
  await browser.submit('/account/login', { email, password: PASSWORD });
  expect([browser.status, browser.text]).toEqual([200, expect.stringContaining('<title>built</title>')]);
  cookie = `pipeline_session=${browser.cookie('pipeline_session')}`;
});
afterAll(() => rmSync(folder, { recursive: true }));

const get = async (headers: Record<string, string>) => {
  const answer = await world.fetch(`${world.front.url}/`, { headers });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
};

describe('the start page', () => {
  test('a logged-in browser gets the built page under a strict policy', async () => {
    const { status, headers } = await get({ accept: BROWSER, cookie });
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(headers.get('vary')).toContain('cookie');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
      expect(policy).toContain(rule);
    expect(policy).not.toContain('unsafe');
    const again = await get({ accept: BROWSER, cookie, 'if-none-match': headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test.each<[string, Record<string, string>, boolean]>([
    ['a browser without a session', { accept: BROWSER }, false],
    ['a program that accepts JSON', { accept: 'application/json' }, true],
    ['a program that accepts everything', { accept: '*/*' }, true],
    ['an ended session', { accept: BROWSER, cookie: `pipeline_session=${'A'.repeat(43)}` }, false],
  ])('shows links to the API for %s', async (_who, headers, withSession) => {
    const { status, text } = await get({ ...headers, ...(withSession && { cookie }) });
    expect([status, text]).toEqual([200, expect.stringContaining('href="/api/openapi.json"')]);
  });
});

/** fetch tidies a path up before it sends it, so the path goes out by hand. */
const raw = (path: string): Promise<{ status: number; text: string; cache: string | undefined }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(world.hosting.api.url);
    const call = request({ hostname, port, path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, cache: response.headers['cache-control'] }),
      );
    });
    call.on('error', reject).end();
  });

describe('a file', () => {
  test('a file below the assets is cached permanently', async () => {
    const cache = 'public, max-age=31536000, immutable';
    expect(await raw('/assets/app-1a2b.js')).toEqual({ status: 200, text: 'let a;', cache });
  });

  test.each([
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e/index.html',
    '/assets/none.js',
  ])('answers 404 without a body when the path is %s', async (path) => {
    const { status, text } = await raw(path);
    expect([status, text]).toEqual([404, '']);
  });
});

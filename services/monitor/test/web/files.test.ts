import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serveApp } from '../support/served-app.ts';

const folder = mkdtempSync(join(tmpdir(), 'monitor-web-'));
const webDir = join(folder, 'dist');
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  mkdirSync(join(webDir, 'assets', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  writeFileSync(join(webDir, 'index.html'), '<!doctype html><title>built</title>');
  writeFileSync(join(webDir, 'assets', 'app-1a2b.js'), 'let a = "ä";');
  writeFileSync(join(webDir, 'assets', 'deep', 'style.css'), 'a{}');
  writeFileSync(join(webDir, 'assets', '.hidden'), 'secret');
  writeFileSync(join(webDir, 'assets', 'big-3c4d.js'), 'let plain;');
  writeFileSync(join(webDir, 'assets', 'big-3c4d.js.br'), brotliCompressSync('let brotli;'));
  writeFileSync(join(webDir, 'assets', 'big-3c4d.js.gz'), gzipSync('let gzip;'));
  symlinkSync(join(folder, 'secret.txt'), join(webDir, 'assets', 'link.txt'));
  symlinkSync(folder, join(webDir, 'assets', 'up'));
  symlinkSync(join(webDir, 'assets', 'app-1a2b.js'), join(webDir, 'assets', 'inside.js'));
  ({ url, close } = await serveApp({ webDir }));
});
afterAll(async () => {
  await close();
  rmSync(folder, { recursive: true });
});

/** fetch tidies a path up before it sends it, so the path goes out by hand. */
const raw = (path: string, method = 'GET'): Promise<{ status: number; text: string; type: string | undefined }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const call = request({ hostname, port, path, method }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, text, type: response.headers['content-type'] }),
      );
    });
    call.on('error', reject).end();
  });

describe('assets', () => {
  test('a file comes with its type, and may be cached without limit', async () => {
    const response = await fetch(`${url}/assets/app-1a2b.js`);
    expect([response.status, await response.text()]).toEqual([200, 'let a = "ä";']);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(response.headers.get('content-length')).toBe('13');
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await raw('/assets/deep/style.css')).toEqual({ status: 200, text: 'a{}', type: 'text/css; charset=utf-8' });
    expect((await raw('/assets/inside.js')).status).toBe(200);
    expect(await raw('/assets/deep/style.css', 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  test.each([
    ['br', 'gzip, deflate, br', 'let brotli;'],
    ['gzip', 'gzip', 'let gzip;'],
    ['gzip', 'br;q=0, gzip', 'let gzip;'],
    [null, 'identity', 'let plain;'],
  ])('sends the file encoded as %s when the caller accepts %s', async (encoding, accepted, text) => {
    const response = await fetch(`${url}/assets/big-3c4d.js`, { headers: { 'accept-encoding': accepted } });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('vary')).toBe('accept-encoding');
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await response.text()).toBe(text);
  });

  test.each([
    '/assets/none.js',
    '/assets/deep',
    '/assets/deep/',
    '/assets/',
    '/assets/../secret.txt',
    '/assets/../../secret.txt',
    '/assets/deep/../../index.html',
    '/assets/deep/../app-1a2b.js',
    '/assets/%2e%2e/%2e%2e/secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/assets/%252e%252e%252f%252e%252e%252fsecret.txt',
    '/assets/..%5c..%5csecret.txt',
    '/assets/..\\..\\secret.txt',
    '/assets/app-1a2b.js%00.txt',
    '/assets/%00',
    '/assets/..%c0%af..%c0%afsecret.txt',
    '/assets/%c0%ae%c0%ae/secret.txt',
    '/assets/%',
    '/assets/%zz',
    `/assets//${folder}/secret.txt`,
    `/assets/%2f${encodeURIComponent(folder)}%2fsecret.txt`,
    '/assets/file:///etc/passwd',
    '/assets/....//....//secret.txt',
    '/assets/.hidden',
    '/assets/link.txt',
    '/assets/up/secret.txt',
    `/assets/${'a'.repeat(300)}`,
    `/assets/${'a/'.repeat(2_500)}b`,
  ])('%s is refused with an empty 404', async (path) => {
    expect(await raw(path)).toEqual({ status: 404, text: '', type: undefined });
  });

  test('every file is missing where nothing was built', async () => {
    const bare = await serveApp();
    const answer = await bare.call('GET', '/assets/app.js');
    await bare.close();
    expect([answer.status, answer.text]).toEqual([404, '']);
  });
});

describe('the page', () => {
  test('serves the dashboard where it was built', async () => {
    expect(await raw('/')).toMatchObject({ status: 200, text: '<!doctype html><title>built</title>' });
  });

  test('sends the page once per build: the next request gets 304', async () => {
    const first = await fetch(`${url}/`);
    expect(first.headers.get('cache-control')).toBe('no-cache');
    const etag = first.headers.get('etag') ?? '';
    const second = await fetch(`${url}/`, { headers: { 'if-none-match': etag } });
    expect([second.status, await second.text()]).toEqual([304, '']);
    expect((await fetch(`${url}/`, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  test('allows scripts, styles and requests of its own origin only', async () => {
    const policy = (await fetch(`${url}/`)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|nonce|https?:/);
  });

  test('serves a placeholder elsewhere, whose policy allows its own style and nothing more', async () => {
    const bare = await serveApp();
    const answer = await bare.call('GET', '/');
    await bare.close();
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(answer.text).toContain('/api/openapi.json');
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[^']+';/);
  });
});

/** The site of this repository on a file server, as a browser and as text. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import { type BuiltSite, buildSite } from '../src/build.ts';
import { siteDocuments } from '../src/documents.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Stricter than the policy of the pages: a script that writes markup fails as well. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Builds the site once for a test file and serves it below a path. */
export function builtSite() {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const server = createServer((request, response) => {
    const path = (request.url ?? '').replace(/^\/docs\//, '').replace(/[?#].*/, '');
    try {
      const body = readFileSync(join(folder, path));
      response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? '', 'content-security-policy': POLICY });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  serverClosedWithFile(server);
  let result: BuiltSite;
  beforeAll(async () => {
    result = await buildSite({ root: ROOT, documents: siteDocuments(ROOT), apis: ['hosted', 'monitor'] }, folder);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  }, 60_000);
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    result: () => result,
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    address: (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/docs/${path}`,
  };
}

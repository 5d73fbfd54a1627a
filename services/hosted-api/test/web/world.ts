import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { launchOptions } from '@pipeline/testing/chromium';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import { type Browser, chromium } from 'playwright-core';
import { testOauth } from '../oauth/oauth-world.ts';

const WEB = join(import.meta.dirname, '../../web');

/** Two replicas with the customers' pages and a provider that redirects further, as one with a login of its own does. */
export const world = testOauth({ webDir: join(WEB, 'dist') }, async () => {
  const provider = createServer((request, response) => {
    if (request.url?.startsWith('/login/oauth/authorize')) {
      const { port } = request.socket.address() as AddressInfo;
      response.writeHead(302, { location: `http://localhost:${port}/elsewhere` }).end();
    } else response.end('<!doctype html><title>Provider</title><p>Who are you?');
  });
  serverClosedWithFile(provider);
  provider.listen(0, '127.0.0.1');
  await once(provider, 'listening');
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  return { identityProviders: { github: { url, clientId: 'c', clientSecret: 's', label: 'GitHub' }, limit: 0 } };
});

let opened: Browser | undefined;
beforeAll(async () => {
  const build = join(WEB, 'scripts/build-main.ts');
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', build, '--if-stale']);
  opened = await chromium.launch(launchOptions());
}, 120_000);
afterAll(() => opened?.close());

/** The Chromium of all tests of this folder. */
export function browser(): Browser {
  if (!opened) throw new Error('the browser is there from beforeAll on: use it inside tests and hooks');
  return opened;
}

/** The built dashboard in a real browser, on a store with the history of several repos. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { TestDatabase } from '@pipeline/testing';
import { axeFindings } from '@pipeline/testing/axe-findings';
import { launchOptions } from '@pipeline/testing/chromium';
import { simulateHistory } from '@pipeline/testing/history';
import { until } from '@pipeline/testing/until';
import { openWatched } from '@pipeline/testing/watched-page';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Pipeline } from '../../src/process/pipeline.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { authOf, OLGA, serveApp } from '../support/served-app.ts';

const WEB = join(import.meta.dirname, '../../web');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A host name that is not secure without https, unlike localhost and 127.0.0.1. */
export const HOST_NAME = 'ops.internal';
const RESOLVE = `--host-resolver-rules=MAP ${HOST_NAME} 127.0.0.1`;

/** A page of a browser of its own; what it complains about is kept. */
interface OpenedPage {
  page: Page;
  context: BrowserContext;
  complaints: string[];
}

interface ServedOptions {
  /** Issues of the history. */
  issues?: number;
  /** Overrides for the parts of the pipeline that the routes use. */
  over?: (pipeline: Pipeline) => Partial<Pipeline> | Promise<Partial<Pipeline>>;
}

const webDir = join(WEB, 'dist');

type OpenPage = (width: number, colorScheme: 'light' | 'dark', more?: BrowserContextOptions) => Promise<OpenedPage>;

/** Builds the dashboard and opens a browser for the tests of a file or describe block. @returns a function that opens a page. */
function openedBrowser(): OpenPage {
  let browser: Browser;
  beforeAll(async () => {
    execFileSync(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(WEB, 'scripts/build-main.ts'),
      '--if-stale',
    ]);
    browser = await chromium.launch(launchOptions(RESOLVE));
  }, 120_000);
  // A page that is left open goes on polling, through the routes of its test.
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) {
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    }
  });
  afterAll(() => browser?.close());
  return async (width, colorScheme, more = {}) => {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, ...more });
    return { context, ...(await openWatched(context)) };
  };
}

/** Serves the dashboard of a monitor without a store for the tests of a describe block. */
export function servedWithoutStore() {
  let url: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    ({ url, close } = await serveApp({ auth: authOf([OLGA]), webDir }));
  });
  afterAll(() => close?.());
  return { address: () => url };
}

/** Serves the dashboard to a browser for the tests of a file or describe block. */
export function servedDashboard(database: TestDatabase, { issues = 60, over = () => ({}) }: ServedOptions = {}) {
  const openAnonymous = openedBrowser();
  let url: string;
  let session: BrowserContextOptions['storageState'];
  let close: () => Promise<void>;
  let pipeline: Pipeline;
  let parts: Pipeline;

  beforeAll(async () => {
    await simulateHistory(database.db, { tenants: 1, repos: 2, days: 3, issues, seed: 1, end: new Date() });
    pipeline = await pipelineOf(database.url);
    parts = { ...pipeline, ...(await over(pipeline)) };
    pipeline.start();
    const { dashboard } = pipeline;
    ({ url, close } = await serveApp({ auth: authOf([OLGA]), pipeline: parts, dashboard, webDir }));
    await until('the monitor has a store', () => pipeline.storeWatch.isConnected);
  }, 120_000);
  database.defer(async () => {
    pipeline?.feed.close();
    await close?.();
    await pipeline?.stop();
  });

  /** The API as the browser's operator sees it. */
  const api = async <T>(path: string): Promise<T> =>
    (await (await fetch(url + path, { headers: { authorization: BASIC } })).json()) as T;

  /** Opens a page with a session of the operator, which all pages of the file share. */
  const open: OpenPage = async (width, colorScheme, more = {}) => {
    const opened = await openAnonymous(width, colorScheme, { ...more, ...(session && { storageState: session }) });
    if (session) return opened;
    const { username, password } = OLGA;
    await opened.context.request.post(`${url}/api/auth/login`, {
      data: { username, password },
      failOnStatusCode: true,
    });
    session = await opened.context.storageState();
    return opened;
  };

  /** Sends an action of the browser's operator without the browser. */
  const post = (path: string): Promise<Response> =>
    fetch(url + path, {
      method: 'POST',
      headers: { authorization: BASIC, 'content-type': 'application/json' },
      body: '{}',
    });

  return { open, openAnonymous, api, post, address: () => url, pipeline: () => parts };
}

const BASIC = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;

export async function logIn(page: Page, password = OLGA.password): Promise<void> {
  await page.getByLabel('Username').fill(OLGA.username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** The longest wait of a page before it connects again. */
const RECONNECT_WAIT_MS = 30_000;
/** Time of an attempt to connect on a busy machine. */
const ATTEMPT_MS = 10_000;
const MAX_WAITS = 10;

/** Passes the wait of a page, whose clock is installed, before it connects again, and returns when its stream is live. */
export async function passReconnectWait(page: Page): Promise<void> {
  const live = page.getByRole('button', { name: /^Live/ });
  // An attempt in flight may fail and be followed by a wait that was not passed.
  for (let wait = 0; wait < MAX_WAITS; wait += 1) {
    await page.clock.fastForward(RECONNECT_WAIT_MS);
    if (
      await live.waitFor({ timeout: ATTEMPT_MS }).then(
        () => true,
        () => false,
      )
    )
      return;
  }
  await live.waitFor({ timeout: ATTEMPT_MS });
}

/** Findings of axe on the page in both themes, each with its theme and its first element. */
export const findings = (page: Page): Promise<unknown[]> => axeFindings(page, AXE);

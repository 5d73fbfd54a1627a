/** The built dashboard in a real browser, on a store with the history of several repos. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { simulateHistory } from '@pipeline/testing/history';
import { type Browser, chromium, type Page } from 'playwright-core';
import type { Pipeline } from '../../src/process/pipeline.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { authOf, OLGA, serveApp } from '../support/served-app.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));
if (CHROMIUM === undefined)
  process.stderr.write('no Chromium is installed: the dashboard is not tested in a browser\n');
const inBrowser = CHROMIUM === undefined ? describe.skip : describe;

const WEB = join(import.meta.dirname, '../../web');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WATCH = `document.addEventListener('securitypolicyviolation', (event) => console.error('policy: ' + event.violatedDirective))`;
const PAGES = ['/', '/issues?state=all', '/issues?view=board', '/queue', '/workers', '/trouble/blocked'];
const TROUBLE = ['/trouble/dead-letters', '/trouble/consistency', '/trouble/writes', '/no-such-page'];

const REPO = 'repo=acme/repo-1';
const OTHERS = [
  '/costs',
  '/system/logs',
  '/system/events',
  '/system/config',
  '/system/api?op=retryIssue',
  '/steering/tracks',
  `/steering/strategy?${REPO}`,
  `/knowledge/findings?${REPO}`,
  `/knowledge/items?${REPO}`,
  `/knowledge/retrieve?${REPO}`,
  '/digest',
  '/trouble/regressions',
];

const database = testDatabase();

inBrowser('the dashboard', () => {
  let browser: Browser;
  let url: string;
  let close: () => Promise<void>;
  let pipeline: Pipeline;

  beforeAll(async () => {
    execFileSync(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(WEB, 'scripts/build-main.ts'),
      '--if-stale',
    ]);
    await simulateHistory(database.db, { tenants: 1, repos: 2, days: 3, issues: 60, seed: 1, end: new Date() });
    pipeline = await pipelineOf(database.url);
    pipeline.start();
    const { dashboard } = pipeline;
    ({ url, close } = await serveApp({ auth: authOf([OLGA]), pipeline, dashboard, webDir: join(WEB, 'dist') }));
    browser = await chromium.launch({ executablePath: CHROMIUM ?? '', args: ['--no-sandbox'] });
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    pipeline?.feed.close();
    await close?.();
    await pipeline?.stop();
  });

  /** A page of a browser of its own; what it complains about is kept. */
  async function open(width: number, colorScheme: 'light' | 'dark'): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    await context.addInitScript(WATCH);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    return { page, complaints };
  }

  async function logIn(page: Page, password = OLGA.password): Promise<void> {
    await page.getByLabel('Username').fill(OLGA.username);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  }

  const findings = async (page: Page): Promise<unknown> => {
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: AXE });
    return page.evaluate('axe.run().then((result) => result.violations.map(({ id, nodes }) => [id, nodes[0].html]))');
  };

  test('asks for a login, names wrong credentials, and opens the wanted page afterwards', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(`${url}/#/queue`);
    await logIn(page, 'wrong');
    await page.getByText('The username or the password is wrong.').waitFor();
    expect(await findings(page)).toEqual([]);
    await logIn(page);
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    await page.getByRole('button', { name: /^Live/ }).waitFor();
  }, 60_000);

  test.each([
    [1440, 'light'],
    [768, 'dark'],
    [360, 'light'],
  ] as const)(
    'has no findings of axe, no refused resource and no sideways scroll at %d px, %s',
    async (width, theme) => {
      const { page, complaints } = await open(width, theme);
      await page.goto(url);
      await logIn(page);
      for (const path of [...PAGES, ...TROUBLE, ...OTHERS]) {
        await page.goto(`${url}/#${path}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('domcontentloaded');
        expect([path, await findings(page)]).toEqual([path, []]);
        const fits = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
        expect([path, await page.evaluate(fits)]).toEqual([path, true]);
      }
      // The check of the session before the login is a 401 of other reads at most.
      expect(complaints.filter((text) => !text.includes('401'))).toEqual([]);
    },
    180_000,
  );

  test('opens pages and the palette by keyboard', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(url);
    await logIn(page);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('i');
    await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.type('dead');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
  }, 60_000);

  /** The API as the browser's operator sees it. */
  const api = async <T>(path: string): Promise<T> => {
    const authorization = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;
    return (await (await fetch(url + path, { headers: { authorization } })).json()) as T;
  };
  interface Tracks {
    tracks: { name: string; enabled: boolean; active_version: number }[];
  }

  test('adds a track, switches it off and on, writes a prompt and activates it', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(`${url}/#/steering/tracks?${REPO}`);
    await logIn(page);
    await page.getByRole('button', { name: 'Add a track' }).click();
    await page.getByLabel('Name').fill('gaps');
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add track gaps' }).click();
    await page.getByRole('link', { name: 'gaps' }).click();
    await page.getByRole('heading', { name: 'Track gaps', level: 1 }).waitFor();
    const track = async () =>
      (await api<Tracks>('/api/tracks?repo=acme/repo-1')).tracks.find(({ name }) => name === 'gaps');
    expect(await track()).toMatchObject({ enabled: true, active_version: 0 });
    await page.locator('label', { has: page.getByRole('switch', { name: 'Enable the track gaps' }) }).click();
    await page.getByText('Accepted: disabled').waitFor();
    expect(await track()).toMatchObject({ enabled: false });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('label', { hasText: /^on$/ }).waitFor();
    expect(await track()).toMatchObject({ enabled: true });
    await page.getByRole('button', { name: 'Write a version' }).click();
    await page.getByLabel('Instructions to agents').fill('Prefer small tests.');
    await page.getByRole('button', { name: 'Store a version' }).click();
    await page.getByRole('button', { name: 'Activate version 1' }).click();
    await page.getByRole('button', { name: 'Activate version 1 of gaps' }).click();
    await page.getByText('version 1 is active').waitFor();
    expect(await track()).toMatchObject({ active_version: 1 });
  }, 60_000);

  test('disables a repository at once and enables it again by undo', async () => {
    const { page } = await open(360, 'dark');
    await page.goto(`${url}/#/system/config`);
    await logIn(page);
    const enabled = async () =>
      (await api<{ items: { repo: string; enabled: boolean }[] }>('/api/repos')).items.find(
        ({ repo }) => repo === 'acme/repo-1',
      )?.enabled;
    await page.locator('label', { has: page.getByRole('switch', { name: 'Import issues of acme/repo-1' }) }).click();
    await page.getByText('Accepted: disabled').waitFor();
    expect(await enabled()).toBe(false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone').waitFor();
    await page.locator('label', { hasText: 'Enabled' }).first().waitFor();
    expect(await enabled()).toBe(true);
  }, 60_000);

  test('writes a charter and shows its limits as sentences', async () => {
    const { page } = await open(768, 'light');
    await page.goto(`${url}/#/steering/strategy?${REPO}`);
    await logIn(page);
    await page.getByRole('button', { name: 'Write a charter' }).click();
    await page.getByLabel('Goals').fill('Fewer regressions.');
    await page.getByLabel('Never increase').fill('epic, docs');
    expect(await findings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Store the charter' }).click();
    await page.getByText('Never increase epic, docs.').waitFor();
    const { charter } = await api<{ charter: { envelope: object } }>('/api/strategy/acme/repo-1/charter');
    expect(charter.envelope).toMatchObject({ avoid: ['epic', 'docs'], max_auto_size: 'small' });
  }, 60_000);
});

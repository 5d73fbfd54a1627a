/** The site of this repository: its pages, its links, and what a reader does with it in a browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { launchOptions } from '@pipeline/testing/chromium';
import { inBrowser } from '@pipeline/testing/in-browser';
import { openWatched } from '@pipeline/testing/watched-page';
import { type Browser, chromium, type Page } from 'playwright-core';
import { builtSite } from './built-site.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const site = builtSite();

test('has no dead link, anchor or required page when it is built from this repository', () => {
  expect(site.result().problems).toEqual([]);
  expect(site.result().pages).toBeGreaterThan(100);
});

test('shows every operation of both services in the reference', () => {
  for (const name of ['hosted', 'monitor']) {
    const index = site.read(`reference/${name}/index.html`);
    const { paths } = JSON.parse(site.read(`reference/openapi-${name}.json`)) as { paths: Record<string, object> };
    const requests = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `<code>${method.toUpperCase()} ${path}</code>`),
    );
    expect(requests.filter((request) => !index.includes(request))).toEqual([]);
  }
});

test('loads nothing from another host', () => {
  const loaded = [
    ...site.read('index.html').matchAll(/<(?:script|link|img|source)[^>]+(?:src|srcset|href)="([^"]+)"/g),
  ];
  expect(loaded.length).toBeGreaterThan(4);
  expect(loaded.map(([, address]) => address).filter((address) => /^([a-z]+:|\/)/.test(address ?? ''))).toEqual([]);
});

inBrowser('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch(launchOptions());
  });
  afterAll(() => browser?.close());

  /** A page that records the errors of its console. */
  async function open(
    path: string,
    width: number,
    colorScheme: 'light' | 'dark',
  ): Promise<{ page: Page; complaints: string[] }> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
    const { page, complaints } = await openWatched(context);
    await page.goto(site.address(path));
    return { page, complaints };
  }

  /** Findings of axe, each with its first element. */
  async function findings(page: Page): Promise<unknown> {
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: AXE });
    return page.evaluate('axe.run().then((result) => result.violations.map(({ id, nodes }) => [id, nodes[0].html]))');
  }

  const pages = ['index.html', 'operations.html', 'reference/hosted/worker-protocol.html'];
  const widths = [360, 1440];
  const schemes = ['light', 'dark'] as const;
  test.each(
    pages.flatMap((path) => widths.flatMap((width) => schemes.map((scheme) => [path, width, scheme] as const))),
  )('has no finding of axe when %s is open at %i, %s', async (path, width, scheme) => {
    const { page, complaints } = await open(path, width, scheme);
    expect(await findings(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('leads to the section when a term is searched with the keyboard', async () => {
    const { page, complaints } = await open('decisions/index.html', 360, 'light');
    await page.keyboard.press('/');
    await page.keyboard.type('merge train');
    await page.getByRole('link', { name: 'Operations › Merge train' }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/operations.html#merge-train');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  test('says so when a search finds nothing', async () => {
    const { page } = await open('index.html', 1440, 'light');
    await page.getByRole('searchbox').fill('xyzzyplugh');
    await page.getByText('No results').waitFor();
    await page.context().close();
  });

  test('opens the menu when the screen is narrow', async () => {
    const { page } = await open('index.html', 360, 'light');
    const menu = page.getByRole('navigation', { name: 'Documentation' });
    expect(await menu.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    expect(await findings(page)).toEqual([]);
    await menu.getByRole('link', { name: 'Security' }).click();
    await page.waitForURL('**/docs/security.html');
    await page.context().close();
  });

  test('keeps the colours that the reader chose when another page is opened', async () => {
    const { page } = await open('index.html', 1440, 'dark');
    const theme = (): Promise<unknown> => page.evaluate('document.documentElement.dataset.theme');
    expect(await theme()).toBe('dark');
    await page.getByRole('button', { name: 'Light or dark' }).click();
    await page.goto(site.address('security.html'));
    expect(await theme()).toBe('light');
    await page.context().close();
  });
});

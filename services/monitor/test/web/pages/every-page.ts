/** Every page of the dashboard, and every layer over one: dialogs, palette, peek, list of shortcuts, tips. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { findings } from '../browser.ts';
import { address, api, open } from './dashboard.ts';

const PAGES = ['/', '/issues?state=all', '/issues?view=board', '/queue', '/workers', '/trouble/blocked'];
const TROUBLE = ['/trouble/dead-letters', '/trouble/consistency', '/trouble/writes', '/no-such-page'];

const REPO = 'repo=acme/repo-1';
const OTHERS = [
  '/agents',
  '/costs',
  '/system/logs',
  '/system/events',
  '/system/config',
  '/system/audit',
  '/system/api?op=retryIssue',
  '/steering/tracks',
  `/steering/strategy?${REPO}`,
  `/knowledge/findings?${REPO}`,
  `/knowledge/items?${REPO}`,
  `/knowledge/retrieve?${REPO}`,
  '/digest',
  '/trouble/regressions',
];

interface Issues {
  items: { repo: string; issueNumber: number }[];
}
interface Layer {
  name: string;
  path: string;
  open: (page: Page) => Promise<void>;
  /** Locates the element that is visible while the layer is open. */
  shows: (page: Page) => ReturnType<Page['locator']>;
  /** Width of the windows that have it, in pixels. */
  below?: number;
}

const press = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();
const key = (name: string) => (page: Page) => page.keyboard.press(name);
const dialog = (name: string | RegExp) => (page: Page) => page.getByRole('dialog', { name });

/** @param issue path of an issue that is not done. */
const layersOf = (issue: string): Layer[] => [
  { name: 'palette', path: '/', open: key('Control+k'), shows: dialog('Command palette') },
  { name: 'list of shortcuts', path: '/', open: key('?'), shows: dialog('Keyboard shortcuts') },
  { name: 'settings', path: '/', open: press('Settings and user'), shows: dialog('Settings') },
  {
    name: 'definition of a figure',
    path: '/',
    open: (page) =>
      page
        .getByRole('button', { name: /^Definition of/ })
        .first()
        .focus(),
    shows: (page) => page.getByRole('tooltip'),
  },
  { name: 'menu of actions', path: issue, open: key('.'), shows: dialog(/^Actions on/) },
  { name: 'consent to a retry', path: issue, open: key('r'), shows: dialog(/^Retry/) },
  { name: 'reason of a move', path: issue, open: key('t'), shows: dialog(/^Move/) },
  {
    name: 'confirmation of a cancel',
    path: issue,
    open: key('c'),
    shows: (page) => page.getByRole('alertdialog', { name: /^Cancel/ }),
  },
  {
    name: 'peek',
    path: `/issues?state=all&peek=${issue.slice('/issues/'.length)}`,
    open: async () => {},
    shows: (page) => page.getByRole('complementary').getByRole('toolbar', { name: 'Actions on the issue' }),
  },
  { name: 'new repository', path: '/system/config', open: press('Add a repository'), shows: dialog(/^Add/) },
  { name: 'list of pages', path: '/', open: press('More'), shows: dialog('Pages'), below: 720 },
  { name: 'new track', path: '/steering/tracks?repo=acme/repo-1', open: press('Add a track'), shows: dialog(/^Add/) },
];

/** Declares a test of all pages per width of the window. */
export const checkPages = (widths: readonly number[]): void =>
  inBrowser('the dashboard', () => {
    test.each([...widths])(
      'every page has no findings of axe, no refused resource and no sideways scroll at %d px',
      async (width) => {
        const { page, complaints } = await open(width, 'light');
        for (const path of [...PAGES, ...TROUBLE, ...OTHERS]) {
          await page.goto(`${address()}/#${path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await page.waitForLoadState('domcontentloaded');
          expect([path, await findings(page)]).toEqual([path, []]);
          const fits = 'document.documentElement.scrollWidth <= document.documentElement.clientWidth';
          expect([path, await page.evaluate(fits)]).toEqual([path, true]);
        }
        expect(complaints).toEqual([]);
      },
      180_000,
    );
  });

/** Declares a test of all layers per width of the window. */
export const checkLayers = (widths: readonly number[]): void =>
  inBrowser('the dashboard', () => {
    test.each([...widths])(
      'the page has no findings of axe and no refused resource when something is open over it at %d px',
      async (width) => {
        const { page, complaints } = await open(width, 'light');
        const [issue] = (await api<Issues>('/api/issues?state=analyzing&limit=1')).items;
        const found: unknown[] = [];
        const layers = layersOf(`/issues/${issue?.repo}/${issue?.issueNumber}`);
        for (const layer of layers.filter(({ below = Number.POSITIVE_INFINITY }) => width < below)) {
          await page.goto(`${address()}/#${layer.path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          if (layer.path.startsWith('/issues/'))
            await page.getByRole('toolbar', { name: 'Actions on the issue' }).waitFor();
          await layer.open(page);
          await layer.shows(page).first().waitFor();
          for (const finding of await findings(page)) found.push([layer.name, finding]);
          await page.keyboard.press('Escape');
        }
        expect(found).toEqual([]);
        expect(complaints).toEqual([]);
      },
      180_000,
    );
  });

/** The dashboard of a monitor that has no store yet. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import { findings, logIn, servedWithoutStore } from '../browser.ts';
import { openAnonymous } from './dashboard.ts';

const PATHS = [
  '/',
  '/issues?state=all',
  '/queue',
  '/workers',
  '/trouble/blocked',
  '/trouble/dead-letters',
  '/trouble/consistency',
  '/trouble/writes',
  '/costs',
  '/agents',
  '/system/events',
  '/system/audit',
  '/system/config',
];

inBrowser('the dashboard without a store', () => {
  const { address } = servedWithoutStore();

  test('shows no figure that it does not know, and the variable that connects a database', async () => {
    const { page } = await openAnonymous(1440, 'light');
    await page.goto(address());
    await logIn(page);
    await page.getByText('DATABASE_URL=postgres://user:password@host:5432/database').waitFor();
    const needs = page.getByRole('region', { name: /^Needs you/ });
    await needs.getByText('warming up').waitFor();
    const tiles = await needs.getByRole('listitem').allTextContents();
    expect(tiles.map((text) => text.slice(0, 1))).toEqual(['–', '–', '–', '–', '–', '–']);
    await page.goto(`${address()}/#/issues?state=all`);
    await page.getByText('The issues could not be read').waitFor();
    expect(await page.getByText(/\d+ (found|issues)/).count()).toBe(0);
  });

  test('the pages have no findings of axe', async () => {
    const { page } = await openAnonymous(1440, 'light');
    await page.goto(address());
    await logIn(page);
    const found: unknown[] = [];
    for (const path of PATHS) {
      await page.goto(`${address()}/#${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('Loading', { exact: true }).first().waitFor({ state: 'detached' });
      for (const finding of await findings(page)) found.push([path, finding]);
    }
    expect(found).toEqual([]);
  }, 120_000);
});

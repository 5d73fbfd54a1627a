/** Cost of opening a page of the dashboard, and the sorting of a table by its headers. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { address, open } from './dashboard.ts';

inBrowser('the dashboard', () => {
  const live = (page: Page) => page.getByRole('button', { name: /^Live/ });

  test('reads each part of the overview once when it is opened with a session', async () => {
    const { page } = await open(1440, 'light');
    const reads: { path: string; at: number }[] = [];
    page.on('request', (request) => {
      const path = new URL(request.url()).pathname;
      if (!path.startsWith('/assets/')) reads.push({ path, at: performance.now() });
    });
    await page.goto(address());
    await live(page).waitFor();
    await page.getByRole('img', { name: /open issues? now/ }).waitFor();
    await page.waitForLoadState('load');
    // A slow machine reaches the interval after which a list is read again.
    const isRepeated = ({ path, at }: (typeof reads)[number]) =>
      reads.some((earlier) => earlier.path === path && earlier.at < at && at - earlier.at < 1_000);
    expect(reads.filter(isRepeated)).toEqual([]);
    const paths = new Set(reads.map(({ path }) => path));
    expect(paths).toContain('/api/pipeline/state-timeseries');
    expect(paths.size).toBeLessThanOrEqual(14); // the page, session and stream among them
  });

  test('sorts a table at once when a header is pressed, with the pointer over the table', async () => {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/issues?state=all`);
    const firstNumber = async () =>
      Number(((await page.getByRole('row').nth(1).getByRole('gridcell').nth(1).textContent()) ?? '').slice(1));
    await page.getByRole('row').nth(1).hover();
    await page.getByRole('row').nth(2).hover();
    const header = page.getByRole('columnheader', { name: 'Issue', exact: true });
    await header.getByRole('button').click();
    const lowest = await firstNumber();
    await header.getByRole('button').click();
    expect(await firstNumber()).toBeGreaterThan(lowest);
    expect(lowest).toBe(1);
  });
});

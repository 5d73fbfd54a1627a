/** Long lists of the dashboard: only the rows in view have elements, which are reused while a list is scrolled. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { address, api, open } from './dashboard.ts';

const ROWS = `[...document.querySelectorAll('[role=rowgroup] [role=row]')]`;
const INDEXES = `${ROWS}.map((row) => Number(row.getAttribute('aria-rowindex')))`;

/** Scrolls the list and waits until its rows are those of the new place, in their order. */
async function scrollBy(page: Page, pixels: number): Promise<void> {
  await page.evaluate(`new Promise((done) => {
    const rows = () => ${INDEXES};
    const before = String(rows());
    document.querySelector('[role=grid]').scrollTop += ${pixels};
    const check = () => {
      const now = rows();
      const isOrdered = now.every((index, at) => at === 0 || index === now[at - 1] + 1);
      if (String(now) !== before && isOrdered) done();
      else requestAnimationFrame(check);
    };
    check();
  })`);
}

inBrowser('a long list', () => {
  async function openIssues(): Promise<Page> {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/issues?state=all`);
    await page.getByRole('row').nth(20).waitFor();
    return page;
  }

  test('the rows are in the order of the table after it was scrolled, for screen readers', async () => {
    const page = await openIssues();
    await scrollBy(page, 640);
    await scrollBy(page, -320);
    const texts = await page.evaluate<string[]>(`${ROWS}.map((row) => row.textContent)`);
    expect(new Set(texts).size).toBe(texts.length);
  });

  test('sorts the whole list, not only the part that was read', async () => {
    const { items } = await api<{ items: { issueNumber: number }[] }>('/api/issues?state=all&limit=500');
    const { page } = await open(1440, 'light');
    await page.route('**/api/issues?*', (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '20');
      return route.continue({ url: url.href });
    });
    await page.goto(`${address()}/#/issues?state=all&sort=-number`);
    await page.locator(`[role=grid][aria-rowcount="${items.length + 1}"]`).waitFor();
    const first = await page.getByRole('row').nth(1).getByRole('gridcell').nth(1).textContent();
    expect(first).toBe(`#${Math.max(...items.map(({ issueNumber }) => issueNumber))}`);
  });

  test('uses the elements of rows that left for rows that came', async () => {
    const page = await openIssues();
    await scrollBy(page, 640);
    await page.evaluate(`window.before = new Set(${ROWS})`);
    await scrollBy(page, 320);
    expect(await page.evaluate<number>(`${ROWS}.filter((row) => !window.before.has(row)).length`)).toBe(0);
  });

  const scrolled = (page: Page) => page.evaluate<number>(`document.querySelector('[role=grid]').scrollTop`);

  test('the list keeps its position after back and after a reload, and the list of another page begins at its top', async () => {
    const page = await openIssues();
    await scrollBy(page, 640);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Queue' }).click();
    await page.getByRole('heading', { name: 'Queue', level: 1 }).waitFor();
    await page.goBack();
    await page.getByRole('grid', { name: 'Issues' }).waitFor();
    expect(await scrolled(page)).toBe(640);
    await page.reload();
    await page.getByRole('grid', { name: 'Issues' }).waitFor();
    expect(await scrolled(page)).toBe(640);
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Events' }).click();
    await page.getByRole('grid', { name: 'Events, newest first' }).waitFor();
    expect(await scrolled(page)).toBe(0);
  });

  test('keeps the focus in a row that stays in view', async () => {
    const page = await openIssues();
    await scrollBy(page, 640);
    await page.evaluate(`${ROWS}[12].querySelector('a').focus()`);
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    const before = await focused();
    await scrollBy(page, -96);
    expect(await focused()).toBe(before);
    await scrollBy(page, 128);
    expect(await focused()).toBe(before);
  });

  test('shows the details of a row in view in a narrow window, after a reload as well', async () => {
    const { page } = await open(360, 'light');
    await page.goto(`${address()}/#/issues?state=all&peek=acme/repo-1/1`);
    const details = page.getByRole('complementary', { name: 'Peek at acme/repo-1#1' });
    const top = async () => {
      await details.getByRole('button', { name: 'Retry' }).waitFor();
      await page.getByRole('row').nth(5).waitFor();
      return (await details.boundingBox())?.y;
    };
    const before = await top();
    expect(before).toBeLessThan(300);
    await page.reload();
    expect(await top()).toBe(before);
  });
});

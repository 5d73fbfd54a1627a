/** Times on the dashboard when clocks change or are wrong, and long histories. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { address, api, open } from './dashboard.ts';

const FIVE_MINUTES = 5 * 60_000;
const ENTRIES = 5_000;
interface Event {
  id: number;
  createdAt: string;
}

/** Both half past twos of the night when the clocks in Berlin go back, and the seconds around midnight UTC. */
const MOMENTS = [
  ['2026-10-25T00:30:00.000Z', '25 Oct 02:30:00', '25 Oct 2026, 02:30:00 CEST', '25 Oct 2026, 00:30:00 UTC'],
  ['2026-10-25T01:30:00.000Z', '25 Oct 02:30:00', '25 Oct 2026, 02:30:00 CET', '25 Oct 2026, 01:30:00 UTC'],
  ['2026-03-29T00:59:59.000Z', '29 Mar 01:59:59', '29 Mar 2026, 01:59:59 CET', '29 Mar 2026, 00:59:59 UTC'],
  ['2026-03-29T01:00:00.000Z', '29 Mar 03:00:00', '29 Mar 2026, 03:00:00 CEST', '29 Mar 2026, 01:00:00 UTC'],
  ['2026-01-31T23:59:59.000Z', '1 Feb 00:59:59', '1 Feb 2026, 00:59:59 CET', '31 Jan 2026, 23:59:59 UTC'],
  ['2026-02-01T00:00:00.000Z', '1 Feb 01:00:00', '1 Feb 2026, 01:00:00 CET', '1 Feb 2026, 00:00:00 UTC'],
] as const;

inBrowser('the dashboard', () => {
  /** Changes the response of a route before the page gets it. */
  const changed = <Body>(page: Page, path: string, change: (body: Body) => Body) =>
    page.route(path, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: change((await response.json()) as Body) });
    });

  test('distinguishes the two half past twos when clocks go back, and shows the day of the chosen zone', async () => {
    const { page } = await open(1440, 'light', { timezoneId: 'Europe/Berlin' });
    await changed<{ items: Event[]; page: object }>(page, '**/api/pipeline-events?*', (body) => ({
      page: { ...body.page, hasMore: false },
      items: MOMENTS.flatMap(([createdAt], index) => ({ ...body.items[index], createdAt }) as Event),
    }));
    await page.goto(`${address()}/#/system/events`);
    const times = page.getByRole('row').locator('time');
    await times.nth(MOMENTS.length - 1).waitFor();
    expect(await times.allTextContents()).toEqual(MOMENTS.map(([, text]) => text));
    const titles = async () => {
      const all: (string | null)[] = [];
      for (const time of await times.all()) {
        await time.hover();
        all.push(await time.getAttribute('title'));
      }
      return all;
    };
    expect(await titles()).toEqual(MOMENTS.map(([, , local]) => local));
    await page.getByRole('button', { name: /^Times are in/ }).click();
    await page.getByRole('button', { name: 'Times are in UTC. Switch to local time' }).waitFor();
    expect(await titles()).toEqual(MOMENTS.map(([, , , utc]) => utc));
  }, 60_000);

  test.each([FIVE_MINUTES, -FIVE_MINUTES])(
    'shows the ages of the monitor when the clock of the browser is wrong by %d ms',
    async (wrongByMs) => {
      const { page, context } = await open(1440, 'light');
      await context.addInitScript(`{ const now = Date.now; Date.now = () => now() + ${wrongByMs}; }`);
      await changed<{ polledAt: string }>(page, '**/api/consistency?*', (body) => ({
        ...body,
        polledAt: new Date(Date.now() - 2 * 60_000 - 20_000).toISOString(),
      }));
      await page.goto(`${address()}/#/trouble/consistency`);
      await page.getByRole('region', { name: 'Findings' }).getByText('2 min ago').waitFor();
    },
    60_000,
  );

  test('renders a bounded part of an issue with 5,000 entries, and the oldest one when it is scrolled', async () => {
    interface Timeline {
      entries: { id: string; kind: string; title: string; timestamp: string }[];
    }
    const { items } = await api<{ items: { repo: string; issueNumber: number }[] }>('/api/issues?state=done&limit=1');
    const issue = items[0];
    if (!issue) throw new Error('the history has no done issue');
    const { page } = await open(1440, 'light');
    await changed<Timeline>(page, '**/api/timeline/**', (timeline) => {
      const [first, last] = [timeline.entries[0], timeline.entries.at(-1)];
      if (!first || !last) throw new Error('the issue has no history');
      const [from, to] = [Date.parse(first.timestamp), Date.parse(last.timestamp)];
      const entries = Array.from({ length: ENTRIES }, (_, index) => ({
        ...first,
        id: `projection-${index}`,
        kind: 'projection',
        title: index === 0 ? 'theOldest on the host' : 'swapLabels on the host',
        timestamp: new Date(from + ((to - from) * index) / ENTRIES).toISOString(),
      }));
      return { ...timeline, entries };
    });
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    const grid = page.getByRole('grid', { name: 'Entries of the timeline, newest first' });
    await grid.getByRole('row').nth(1).waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(ENTRIES + 1));
    expect(await grid.getByRole('row').count()).toBeLessThan(100);
    expect(await page.locator('main *').count()).toBeLessThan(2_000);
    await grid.focus();
    await page.keyboard.press('End');
    await grid.getByText('the oldest on the host').waitFor();
    expect(await grid.getByRole('row').count()).toBeLessThan(100);
  }, 60_000);
});

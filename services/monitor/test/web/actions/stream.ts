/** The event stream of the dashboard when it is cut for longer than the replay reaches, and when it is refused. */
import { expect, test } from '@jest/globals';
import { startCutProxy } from '@pipeline/testing';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { passReconnectWait } from '../browser.ts';
import { address, api, database, open, post } from './dashboard.ts';

/** Events that the monitor sends again to a client that comes back. */
const REPLAYED = 100;

interface Issues {
  items: { repo: string; issueNumber: number }[];
}

/** Id of the newest event of the stream. */
async function newestId(): Promise<number> {
  const { id } = await database.db
    .selectFrom('stream_events')
    .select((eb) => eb.fn.max('id').as('id'))
    .executeTakeFirstOrThrow();
  return Number(id);
}

inBrowser('the dashboard', () => {
  const live = (page: Page) => page.getByRole('button', { name: /^Live/ });
  const issues = async () => (await api<Issues>('/api/issues?state=analyzing&limit=2')).items;
  const pathOf = ({ repo, issueNumber }: Issues['items'][number]) => `/issues/${repo}/${issueNumber}`;

  test('shows the current data when the stream was cut during more events than are replayed', async () => {
    const [issue, other] = await issues();
    if (!issue || !other) throw new Error('the history has no two issues that are analyzed');
    const proxy = await startCutProxy(address());
    const { page } = await open(1440, 'light');
    await page.clock.install();
    await page.goto(`${proxy.url.replace(/\/$/, '')}/#${pathOf(issue)}`);
    await live(page).waitFor();
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    proxy.cut();
    await page.getByRole('button', { name: /^Reconnecting/ }).waitFor();
    await post(`/api${pathOf(issue)}/pause`);
    const cutAt = await newestId();
    while ((await newestId()) <= cutAt + REPLAYED)
      for (const action of ['pause', 'resume']) await post(`/api${pathOf(other)}/${action}`);
    const resumed = page.waitForRequest((request) => new URL(request.url()).pathname === '/api/events');
    proxy.restore();
    await passReconnectWait(page);
    const lastSeen = Number((await resumed).headers()['last-event-id']);
    expect((await newestId()) - lastSeen).toBeGreaterThan(REPLAYED);
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await post(`/api${pathOf(issue)}/resume`);
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await proxy.close();
  });

  test('reconnects when the stream is refused with 503, and follows events again', async () => {
    const [issue] = await issues();
    if (!issue) throw new Error('the history has no issue that is analyzed');
    const { page } = await open(1440, 'light');
    await page.clock.install();
    let refusals = 0;
    await page.route('**/api/events', async (route) => {
      refusals += 1;
      await route.fulfill({ status: 503, json: { error: 'no stream', code: 'SSE_UNAVAILABLE', status: 503 } });
    });
    await page.goto(`${address()}/#${pathOf(issue)}`);
    await page.getByRole('button', { name: /^Reconnecting.*try 2/ }).waitFor();
    expect(refusals).toBeGreaterThan(0);
    await page.unroute('**/api/events');
    await passReconnectWait(page);
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
    await post(`/api${pathOf(issue)}/pause`);
    await page.getByRole('button', { name: 'Resume', exact: true }).waitFor();
    await post(`/api${pathOf(issue)}/resume`);
  });
});

/** Actions on workers in the dashboard. */
import { beforeAll, expect, test } from '@jest/globals';
import { claim, registerWorker } from '@pipeline/engine';
import { inBrowser } from '@pipeline/testing/in-browser';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { admit, type Bench, makeBench } from '../../support/bench.ts';
import { findings } from '../browser.ts';
import { address, api, database, open, pipeline } from './dashboard.ts';

interface Floor {
  items: { id: string; status: string; draining: boolean; currentTask: { issueNumber: number } | null }[];
}

inBrowser('the dashboard', () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = { ...(await makeBench(database.store, 'Acme/Shop')), engine: pipeline().engine };
  });
  const register = (name: string): Promise<string> => {
    const facts = { name, hostname: '', version: '1.2.3', labels: {} };
    return registerWorker(bench.engine, bench.tenantId, { ...facts, repos: ['acme/shop'], taskTypes: ['analyze'] });
  };
  const worker = async (id: string) => (await api<Floor>('/api/workers/floor')).items.find((item) => item.id === id);

  async function openWorkers(): Promise<Page> {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#/workers`);
    return page;
  }
  const card = (page: Page, id: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('heading').and(page.getByTitle(id)) });
  const actions = (page: Page) => page.getByRole('region', { name: 'Actions', exact: true });

  test('drains a worker at once and lets it claim again when the action is undone', async () => {
    const id = await register('drained');
    const page = await openWorkers();
    await card(page, id).getByRole('button', { name: 'Drain' }).click();
    await card(page, id).getByText('draining').waitFor();
    expect(await worker(id)).toMatchObject({ status: 'draining' });
    await actions(page).getByRole('button', { name: 'Undo' }).click();
    await actions(page).getByText('undone').waitFor();
    await card(page, id).getByRole('button', { name: 'Drain' }).waitFor();
    const row = database.db.selectFrom('workers').select('draining').where('id', '=', id);
    expect(await row.executeTakeFirst()).toEqual({ draining: false });
  });

  test('resumes a draining worker that is offline', async () => {
    const id = await register('away');
    const lastHeard = sql`svc_now() - interval '45 seconds'`;
    await sql`update workers set draining = true, last_heartbeat_at = ${lastHeard} where id = ${id}`.execute(
      database.db,
    );
    const page = await openWorkers();
    await card(page, id).getByText('offline, draining').waitFor();
    await card(page, id).getByRole('button', { name: 'Resume' }).click();
    await card(page, id).getByRole('button', { name: 'Drain' }).waitFor();
    expect(await worker(id)).toMatchObject({ status: 'offline', draining: false });
  });

  test('reclaims the task of a silent worker when the operator confirms it', async () => {
    const id = await register('silent');
    await admit(bench, 1);
    const request = { tenantId: bench.tenantId, workerId: id, taskTypes: ['analyze' as const] };
    const task = await claim(bench.engine, { ...request, repoIds: [bench.repo.id] });
    if (!task) throw new Error('there is nothing to claim');
    await sql`update workers set last_heartbeat_at = svc_now() - interval '45 seconds' where id = ${id}`.execute(
      database.db,
    );
    const page = await openWorkers();
    await card(page, id).getByTitle('Acme/Shop#1').waitFor();
    await card(page, id).getByRole('button', { name: 'Reclaim …' }).click();
    await page.getByLabel('Reason (optional)').fill('the machine is gone');
    expect(await findings(page)).toEqual([]);
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Reclaim the task of/ })
      .click();
    await actions(page).getByText(`task ${task.id} waits again`).waitFor();
    await card(page, id).getByText('no task').waitFor();
    expect(await worker(id)).toMatchObject({ currentTask: null });
    const row = database.db.selectFrom('tasks').select(['status', 'attempt']).where('id', '=', task.id);
    expect(await row.executeTakeFirst()).toEqual({ status: 'pending', attempt: 1 });
    const { items } = await api<{ items: unknown[] }>('/api/audit?action=worker-reclaim&actor=olga');
    expect(items[0]).toMatchObject({ target: 'Acme/Shop#1', reason: 'the machine is gone' });
  });
});

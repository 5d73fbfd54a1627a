/** Tasks that no worker can claim, on the overview. */
import { beforeAll, expect, test } from '@jest/globals';
import { drainWorker, registerWorker } from '@pipeline/engine';
import { inBrowser } from '@pipeline/testing/in-browser';
import { sql } from 'kysely';
import { admit, type Bench, makeBench } from '../../support/bench.ts';
import { findings } from '../browser.ts';
import { address, database, open, pipeline } from './dashboard.ts';

/** Milliseconds between two reads of the queue by the overview. */
const QUEUE_POLL_MS = 10_000;
const OLGA = { type: 'operator' as const, id: 'olga', agent: null };

inBrowser('the overview', () => {
  let bench: Bench;

  beforeAll(async () => {
    bench = { ...(await makeBench(database.store, 'Acme/Unserved')), engine: pipeline().engine };
    await database.db.deleteFrom('tasks').execute();
    await sql`update workers set draining = true where tenant_id = ${bench.tenantId}`.execute(database.db);
    await admit(bench, 1);
    const ready = sql`svc_now() - interval '10 minutes 30 seconds'`;
    await sql`update tasks set ready_at = ${ready} where repo_id = ${bench.repo.id}`.execute(database.db);
  });

  test('shows a card for tasks without a worker, which goes when one comes and returns when it is drained', async () => {
    const { page } = await open(1440, 'light');
    await page.clock.install();
    await page.goto(address());
    const card = page.getByRole('link', { name: /No worker for analyze tasks/ });
    await card.getByText('oldest waits for 10 min').waitFor();
    expect(await findings(page)).toEqual([]);
    const facts = { name: 'new', hostname: '', version: '1.2.3', labels: {}, repos: ['acme/unserved'] };
    const id = await registerWorker(bench.engine, bench.tenantId, { ...facts, taskTypes: ['analyze'] });
    await page.clock.fastForward(QUEUE_POLL_MS);
    await card.waitFor({ state: 'detached' });
    await drainWorker(bench.engine, id, true, OLGA);
    await page.clock.fastForward(QUEUE_POLL_MS);
    await pipeline().taskQueue.refresh();
    await card.click();
    await page.getByText('Tasks of type analyze').waitFor();
    await page.getByText('Acme/Unserved#1').first().waitFor();
  }, 60_000);
});

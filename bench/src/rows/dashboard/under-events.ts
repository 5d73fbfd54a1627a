import { sleep } from '@pipeline/runtime';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { OurStore } from '../../ours/store.ts';
import { median } from '../../runner/verdict.ts';

const TICKS = 20;
/** Two a second, as many as an operator of a busy installation sees. */
const TICK_MS = 500;
/** Events of an hour at five a second, sent in a minute and a half. */
const HOUR = { events: 5 * 3_600, batch: 100, everyMs: 500 };
const SETTLE_MS = 4_000;
/** Their median counts: V8 compiles and collects what the load has left at a time of its own. */
const IDLE_WINDOWS = 5;

interface UnderEvents {
  /** Main thread per event, in milliseconds, beyond what an idle page takes in that time. */
  tick: number;
  /** Share of the main thread that an idle page takes, in percent. */
  idle: number;
  /** Growth of the heap by the events of an hour, in megabytes, after garbage collection. */
  heap: number;
}

/** The overview and the list of issues while events arrive; each event moves an issue that both show. */
export async function underEvents(browser: Browser, url: string, ours: OurStore): Promise<UnderEvents> {
  const page = await browser.newPage();
  const session = await page.context().newCDPSession(page);
  // Time of the processor, which other programs of the machine do not lengthen.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await opened(page, `${url}/#/issues`);
  await opened(page, url);
  await sleep(SETTLE_MS);
  const idle: number[] = [];
  for (let window = 0; window < IDLE_WINDOWS; window += 1)
    idle.push(await busyDuring(session, () => sleep(TICKS * TICK_MS)));
  const idleMs = median(idle);
  const tickMs = await busyDuring(session, () => emit(ours, { events: TICKS, batch: 1, everyMs: TICK_MS }));
  // The first hundred events make what later ones use again.
  await emit(ours, { events: HOUR.batch, batch: HOUR.batch, everyMs: SETTLE_MS });
  const before = await heapOf(session);
  await emit(ours, HOUR);
  await sleep(SETTLE_MS);
  const after = await heapOf(session);
  await page.close();
  return {
    tick: (tickMs - idleMs) / TICKS,
    idle: (idleMs / (TICKS * TICK_MS)) * 100,
    heap: (after - before) / 1e6,
  };
}

async function opened(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.getByRole('button', { name: /^Live/ }).waitFor();
  await page.waitForLoadState('load');
}

/** Milliseconds of the main thread during some work. */
async function busyDuring(session: CDPSession, work: () => Promise<unknown>): Promise<number> {
  const before = await metricOf(session, 'TaskDuration');
  await work();
  return ((await metricOf(session, 'TaskDuration')) - before) * 1_000;
}

async function metricOf(session: CDPSession, name: string): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return metricOf(session, 'JSHeapUsedSize');
}

/** Puts transitions on the stream in batches, as the engine does: rows first, then the notification. */
async function emit(
  { admin, tenantId, repoIds }: OurStore,
  { events, batch, everyMs }: { events: number; batch: number; everyMs: number },
): Promise<void> {
  for (let from = 0; from < events; from += batch) {
    const next = sleep(everyMs);
    await admin.query(
      `insert into stream_outbox (tenant_id, event_type, data)
       select $1, 'state-transition', jsonb_build_object('issueNumber', 1 + n / $2, 'repo', 'bench/repo-' || n % $2,
         'from', (array['analyzing', 'planning'])[1 + n / 2000 % 2], 'to', (array['planning', 'analyzing'])[1 + n / 2000 % 2],
         'agent', 'bench')
       from generate_series($3::int, $3::int + $4::int - 1) as n`,
      [tenantId, repoIds.length, from, batch],
    );
    await admin.query(`select pg_notify('svc_stream', $1)`, [String(tenantId)]);
    await next;
  }
}

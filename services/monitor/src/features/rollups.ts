import { aggregateDeltas, type CheckedDay, checkNextDay, type Engine } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { Counter, type Registry } from 'prom-client';
import { Lead } from '../loops/lead.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Readers add deltas that are not aggregated yet, so this affects their cost and not their results. */
const AGGREGATE_EVERY_MS = 2 * SECOND_MS;
const CHECK_EVERY_MS = 10 * 60 * SECOND_MS;

/** The loops that keep the sums of analytics: one adds what has changed, one compares each day with its rows. */
export function addRollups({ engine, notifications, loops, metrics, log }: Wiring): void {
  loops.add('rollups', AGGREGATE_EVERY_MS, async () => ((await aggregateDeltas(engine)) ? 'again' : undefined));
  const differences = differencesCounter(metrics.registry);
  const lead = new Lead(notifications, 'rollup-check');
  loops.add('rollup-check', CHECK_EVERY_MS, () =>
    lead.run(engine, async (leading) => ((await rollupCheck(leading, { differences, log })) ? 'again' : undefined)),
  );
}

export const differencesCounter = (registry: Registry): Counter<'table'> =>
  new Counter({
    name: 'svc_rollup_differences_total',
    help: 'Analytics rollups that differed from the history and were repaired.',
    labelNames: ['table'],
    registers: [registry],
  });

/** Compares one day. @returns whether another one may be due. */
export async function rollupCheck(
  engine: Engine,
  { differences, log }: { differences: Counter<'table'>; log: Logger },
): Promise<boolean> {
  const checked = await checkNextDay(engine);
  if (checked) report(checked, differences, log);
  return checked !== undefined;
}

function report({ day, known, off }: CheckedDay, differences: Counter<'table'>, log: Logger): void {
  if (!known) {
    log.info('rollups of a day were rebuilt', {
      day,
      tables: off.map(({ table, wrong }) => ({ table, wrong })),
    });
    return;
  }
  for (const { table, wrong, examples } of off) {
    differences.inc({ table }, wrong);
    log.warn('rollups differed from their rows and were repaired', { day, table, wrong, examples });
  }
}

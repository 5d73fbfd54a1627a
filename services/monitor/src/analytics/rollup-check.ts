import { type CheckedDay, checkNextDay, type Engine } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { Counter, type Registry } from 'prom-client';

export const differencesCounter = (registry: Registry): Counter<'table'> =>
  new Counter({
    name: 'svc_rollup_differences_total',
    help: 'Analytics rollups that differed from the history and were repaired.',
    labelNames: ['table'],
    registers: [registry],
  });

/** Compares the rollups of one day with their rows. @returns whether another day may be due. */
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

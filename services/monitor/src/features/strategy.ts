import { type Engine, runDueStrategies } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { Lead } from '../loops/lead.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** The weekly cycle of the repos where it is turned on. */
export function addStrategy({ engine, notifications, loops, log }: Wiring): void {
  loops.add('strategy', 15 * SECOND_MS, strategyTick(engine, new Lead(notifications, 'strategy'), log));
}

/** One replica makes the proposals, so that they do not wait for each other; two at once would make none twice. */
export const strategyTick = (engine: Engine, lead: Lead, log: Logger) => () =>
  lead.run(engine, async (leading) => {
    const { failures, more } = await runDueStrategies(leading);
    for (const { key, error } of failures) log.error('weekly proposal failed', { ...key, error });
    return more ? 'again' : undefined;
  });

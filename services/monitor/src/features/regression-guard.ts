import { readKpis, watchKpis } from '@pipeline/engine';
import { Lead } from '../loops/lead.ts';
import { PolledValue } from '../polling/polled-value.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** Interval between two rounds, which check due items and read new findings; most rounds find nothing new. */
const LOOK_EVERY_MS = 60 * SECOND_MS;

/** The guard, which one monitor runs for all, and what it found, in the memory of each. */
export function addRegressionGuard({ engine, store, notifications, loops, now }: Wiring) {
  const lead = new Lead(notifications, 'regression-guard');
  loops.add('regression-guard', LOOK_EVERY_MS, () =>
    lead.run(engine, async (leading) => ((await watchKpis(leading)).more ? 'again' : undefined)),
  );
  const kpis = new PolledValue(() => readKpis(store), now);
  loops.add('regression-guard-list', LOOK_EVERY_MS, () => kpis.refresh());
  return { kpis };
}

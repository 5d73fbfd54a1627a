import { countEvents, eventPage } from '@pipeline/store';
import type { Row } from '../../runner/model.ts';
import { makeWeek } from './world.ts';

const RUNS = 20;
const PAGE = { limit: 50, offset: 0 };

/**
 * Goal 19: the newest fifty of all pipeline events with the number of all that there are, beside the same page without
 * it. Checked: the number is right.
 */
export const eventPageRow: Row = {
  goal: 19,
  title: 'pipeline events with their total',
  async open(bench) {
    const week = await makeWeek(bench, bench.quick ? 1_000_000 : 10_000_000);
    const { db } = week.store;
    const filter = { tenantId: null, repoId: null, issue: null, type: null };
    const page = () => eventPage(db, filter, PAGE);
    const withTotal = () => {
      const counted = countEvents(db, filter);
      return Promise.all([eventPage(db, filter, { ...PAGE, counted }), counted]);
    };
    const { total } = await countEvents(db, filter);
    if (total !== week.moves) throw new Error(`${total} events are counted, ${week.moves} there are`);
    const time = async (run: () => Promise<unknown>) => {
      const began = performance.now();
      for (let n = 0; n < RUNS; n += 1) await run();
      return { value: (performance.now() - began) / RUNS, cpu: null };
    };
    const anchor = { name: 'without it', sample: () => time(page) };
    return {
      cases: [
        {
          title: `page of ${week.moves.toLocaleString('en-US')} pipeline events`,
          unit: 'ms',
          ours: { name: 'with total', sample: () => time(withTotal) },
          anchors: [{ contender: anchor, bound: { atMost: 3 } }],
        },
      ],
    };
  },
};

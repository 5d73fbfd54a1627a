import type { Row } from '../../runner/model.ts';
import { openReadWorld } from './world.ts';

/** Goal 4: why an issue drawn at random is where it is, one statement for the data. */
export const whyRow: Row = {
  goal: 4,
  title: 'why of an issue',
  async open(bench) {
    const world = await openReadWorld(bench);
    const asks = [1, 2, 3, 4, 5].flatMap((part) => {
      const number = Math.ceil((world.readable.issuesOfRepo * part) / 5);
      return world.asksOf(({ slug }) => `/api/cli/issues/${number}/why?repo=${slug}`);
    });
    return {
      cases: [
        {
          title: 'why of an issue',
          unit: 'req/s',
          ours: { name: 'ours', sample: () => world.load('why', world.ours, asks) },
          anchors: [{ contender: world.pointByPgbench, bound: { atLeast: 0.5 } }],
        },
      ],
    };
  },
};

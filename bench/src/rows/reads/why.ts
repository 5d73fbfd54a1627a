import { WHY } from '../../peers/reads-sql.ts';
import type { Row } from '../../runner/model.ts';
import { sameWork } from './same-work.ts';
import { openReadWorld, textOf } from './world.ts';

/** Goal 4: why an issue drawn at random is where it is, one statement for the data. */
export const whyRow: Row = {
  goal: 4,
  title: 'why of an issue',
  needs: ['pgbench', 'wrk'],
  async open(bench) {
    const world = await openReadWorld(bench);
    const numbers = [1, 2, 3, 4, 5].map((part) => Math.ceil((world.readable.issuesOfRepo * part) / 5));
    const asks = numbers.flatMap((number) => world.asksOf(({ slug }) => `/api/cli/issues/${number}/why?repo=${slug}`));
    const check = async (url: string) => {
      const { slug = '', token = '' } = world.readable.repos[0] ?? {};
      const text = await textOf(`${url}/api/cli/issues/${numbers[2]}/why?repo=${slug}`, token);
      if (!text.includes(`Issue ${numbers[2]} of a repo`)) throw new Error(`another issue: ${text}`);
    };
    return {
      cases: [
        {
          title: 'why of an issue',
          unit: 'req/s',
          ours: { name: 'ours', sample: () => world.load('why', world.ours, asks) },
          anchors: await sameWork(world, { name: 'why', asks, check, statement: WHY, values: [`${numbers[2]}`] }),
        },
      ],
    };
  },
};

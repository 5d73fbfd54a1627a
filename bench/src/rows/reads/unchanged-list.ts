import type { Ask } from '../../measure/wrk.ts';
import type { Row } from '../../runner/model.ts';
import { openReadWorld } from './world.ts';

/**
 * Goal 3: the list again with the ETag of the last answer, nothing changed: 304, the token checked and the revision read
 * in the database. Its anchor reads one row, a revision by its key, and checks no right.
 */
export const unchangedListRow: Row = {
  goal: 3,
  title: 'unchanged issue list',
  needs: ['pgbench', 'wrk'],
  async open(bench) {
    const world = await openReadWorld(bench);
    const asks: Ask[] = [];
    for (const ask of world.asksOf(({ slug }) => `/api/cli/issues?repo=${slug}&limit=50`)) {
      const { headers } = await fetch(`${world.api.url}${ask.path}`, { headers: ask.headers });
      const again = { ...ask.headers, 'if-none-match': headers.get('etag') ?? '' };
      const answer = await fetch(`${world.api.url}${ask.path}`, { headers: again });
      if (answer.status !== 304) throw new Error(`an unchanged list answers ${answer.status}`);
      asks.push({ path: ask.path, headers: again });
    }
    return {
      cases: [
        {
          title: 'issue list, If-None-Match, unchanged',
          unit: 'req/s',
          ours: { name: 'ours', sample: () => world.load('unchanged', world.ours, asks) },
          anchors: [{ contender: world.revisionByPgbench, bound: { atLeast: 0.5 } }],
        },
      ],
    };
  },
};

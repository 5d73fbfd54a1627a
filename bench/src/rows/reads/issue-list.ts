import type { Load } from '../../measure/wrk.ts';
import { ISSUES } from '../../peers/reads-sql.ts';
import type { Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { sameWork } from './same-work.ts';
import { openReadWorld, type ReadWorld, textOf } from './world.ts';

const LIMIT = 50;

/** Goal 2: fifty issues of a repo drawn at random, through all of the API, nothing of the answer kept. */
export const issueListRow: Row = {
  goal: 2,
  title: 'issue list',
  async open(bench) {
    const world = await openReadWorld(bench);
    const asks = world.asksOf(({ slug }) => `/api/cli/issues?repo=${slug}&limit=${LIMIT}`);
    const check = (url: string) => requireFullPage(world, url);
    const anchors = await sameWork(world, { name: 'issues', asks, check, statement: ISSUES, values: [`${LIMIT}`] });
    const tails: Load[] = [];
    const ours = async () => {
      const load = await world.load('issues', world.ours, asks);
      tails.push(load);
      return load;
    };
    return {
      cases: [
        {
          title: `issue list, ${LIMIT} of ${world.readable.issuesOfRepo} rows`,
          unit: 'req/s',
          ours: { name: 'ours', sample: ours },
          anchors,
        },
      ],
      async facts() {
        const value = median(tails.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms));
        return [{ title: 'issue list: p99 / p50', unit: 'ratio', value, bound: { atMost: 2.5 } }];
      },
    };
  },
};

/** @throws Error when a page is not what it should be. */
async function requireFullPage({ readable }: ReadWorld, url: string): Promise<void> {
  const { slug = '', token = '' } = readable.repos[0] ?? {};
  const text = await textOf(`${url}/api/cli/issues?repo=${slug}&limit=${LIMIT}`, token);
  const { items, page } = JSON.parse(text) as { items: { issueNumber: number }[]; page: { total: number } };
  const inOrder = items.every(({ issueNumber }, index) => issueNumber === readable.issuesOfRepo - index);
  if (items.length !== LIMIT || page.total !== readable.issuesOfRepo || !inOrder)
    throw new Error(`a wrong page: ${text}`);
}

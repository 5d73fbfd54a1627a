import { deepStrictEqual } from 'node:assert/strict';
import type { Load } from '../../measure/wrk.ts';
import { ISSUES, PAGE_INDEX } from '../../peers/reads-sql.ts';
import type { Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { answersOf, sameWork } from './same-work.ts';
import { openReadWorld, type ReadWorld, textOf } from './world.ts';

const LIMIT = 50;
const PATH = '/api/cli/issues';

/**
 * Goal 2: fifty issues of a repo drawn at random, through all of the API, nothing of the answer kept. Its anchors read the
 * rows of the tables, with an index for the order. One more, for orientation, reads the items that our lists store.
 */
export const issueListRow: Row = {
  goal: 2,
  title: 'issue list',
  needs: ['pgbench', 'wrk'],
  async open(bench) {
    const world = await openReadWorld(bench);
    await world.execute(PAGE_INDEX);
    const asksBelow = (path: string) => world.asksOf(({ slug }) => `${path}?repo=${slug}&limit=${LIMIT}`);
    const asks = asksBelow(PATH);
    const check = (url: string) => requireSamePage(world, url + PATH);
    const anchors = await sameWork(world, { name: 'issues', asks, check, statement: ISSUES, values: [`${LIMIT}`] });
    const stored = await answersOf(world, 'fastify', {
      name: 'stored-issues',
      asks: asksBelow(`/stored${PATH}`),
      check: (url) => requireSamePage(world, `${url}/stored${PATH}`),
    });
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
          anchors: [...anchors, { contender: { name: 'fastify + pg, stored items', sample: stored } }],
        },
      ],
      async facts() {
        const value = median(tails.map(({ p50Ms, p99Ms }) => p99Ms / p50Ms));
        return [{ title: 'issue list: p99 / p50', unit: 'ratio', value, bound: { atMost: 2.5 } }];
      },
    };
  },
};

interface Page {
  items: { issueNumber: number }[];
  page: { total: number };
}

/** @throws Error when a page is not what it should be, or has other items than ours. */
async function requireSamePage(world: ReadWorld, url: string): Promise<void> {
  const { readable, api } = world;
  const { items, page } = await pageAt(world, url);
  const inOrder = items.every(({ issueNumber }, index) => issueNumber === readable.issuesOfRepo - index);
  if (items.length !== LIMIT || page.total !== readable.issuesOfRepo || !inOrder)
    throw new Error(`a wrong page: ${JSON.stringify({ items, page })}`);
  deepStrictEqual(items, (await pageAt(world, api.url + PATH)).items);
}

async function pageAt({ readable }: ReadWorld, url: string): Promise<Page> {
  const { slug = '', token = '' } = readable.repos[0] ?? {};
  return JSON.parse(await textOf(`${url}?repo=${slug}&limit=${LIMIT}`, token)) as Page;
}

import type { Load } from '../../measure/wrk.ts';
import type { Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { openReadWorld, type ReadWorld } from './world.ts';

const LIMIT = 50;

/** Goal 2: fifty issues of a repo drawn at random, through all of the API, nothing of the answer kept. */
export const issueListRow: Row = {
  goal: 2,
  title: 'issue list',
  async open(bench) {
    const world = await openReadWorld(bench);
    const plain = await world.peer('kysely', { DATABASE_URL: world.anchorUrl });
    await requireFullPage(world);
    const asks = world.asksOf(({ slug }) => `/api/cli/issues?repo=${slug}&limit=${LIMIT}`);
    const plainAsks = Array.from({ length: 200 }, (_, n) => {
      const before = new Date(Date.UTC(2026, 4, 31) - n * 600_000).toISOString();
      return { path: `/issues?org=${1 + (n % 20)}&before=${before}`, headers: {} };
    });
    const tails: Load[] = [];
    const ours = async () => {
      const load = await world.load('issues', world.ours, asks);
      tails.push(load);
      return load;
    };
    const kysely = () => world.load('issues-plain', { url: plain.url, pids: [plain.pid, bench.server.pid] }, plainAsks);
    return {
      cases: [
        {
          title: `issue list, ${LIMIT} of ${world.readable.issuesOfRepo} rows`,
          unit: 'req/s',
          ours: { name: 'ours', sample: ours },
          anchors: [
            { contender: world.rowsByPgbench, bound: { atLeast: 1.8 } },
            { contender: { name: 'express + kysely', sample: kysely }, bound: { atLeast: 4.5 } },
          ],
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
async function requireFullPage({ api, readable }: ReadWorld): Promise<void> {
  const { slug, token } = readable.repos[0] ?? { slug: '', token: '' };
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${api.url}/api/cli/issues?repo=${slug}&limit=${LIMIT}`, { headers });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`the list answers ${answer.status}: ${text}`);
  const { items, page } = JSON.parse(text) as { items: { issueNumber: number }[]; page: { total: number } };
  const inOrder = items.every(({ issueNumber }, index) => issueNumber === readable.issuesOfRepo - index);
  if (items.length !== LIMIT || page.total !== readable.issuesOfRepo || !inOrder)
    throw new Error(`a wrong page: ${text}`);
}

import { BOOTSTRAP } from '../../peers/reads-sql.ts';
import type { Row } from '../../runner/model.ts';
import { sameWork } from './same-work.ts';
import { openReadWorld, type ReadWorld, textOf } from './world.ts';

/**
 * Goal 1: a small GET, from the check of its bearer token to its answer: `/api/cli/bootstrap?repo=…`, with request id,
 * validation, the right read on the primary and the data.
 */
export const smallGetRow: Row = {
  goal: 1,
  title: 'small authenticated GET',
  needs: ['pgbench', 'wrk'],
  async open(bench) {
    const world = await openReadWorld(bench);
    const asks = world.asksOf(({ slug }) => `/api/cli/bootstrap?repo=${slug}`);
    return {
      cases: [
        {
          title: 'small authenticated GET',
          unit: 'req/s',
          ours: { name: 'ours', sample: () => world.load('small', world.ours, asks) },
          anchors: await sameWork(world, {
            name: 'small',
            asks,
            check: (url) => requireRepos(world, url),
            statement: BOOTSTRAP,
            values: [],
          }),
        },
      ],
    };
  },
};

/** @throws Error when the organisation is not shown with all its repos. */
async function requireRepos({ readable }: ReadWorld, url: string): Promise<void> {
  const { slug = '', token = '', tenantId } = readable.repos[0] ?? {};
  const text = await textOf(`${url}/api/cli/bootstrap?repo=${slug}`, token);
  const { org, repos } = JSON.parse(text) as { org: { id: number | string }; repos: { slug: string }[] };
  const expected = readable.repos.filter((repo) => repo.tenantId === tenantId).map((repo) => repo.slug);
  const shown = repos.map((repo) => repo.slug);
  if (Number(org.id) !== tenantId || `${shown.sort()}` !== `${expected.sort()}`)
    throw new Error(`wrong repos: ${text}`);
}

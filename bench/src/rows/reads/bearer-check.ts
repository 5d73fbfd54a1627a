import type { Sample } from '../../measure/sample.ts';
import { loadWith } from '../../measure/wrk.ts';
import type { Row } from '../../runner/model.ts';
import { costOf, openReadWorld } from './world.ts';

/**
 * Goal 16: what the check of a bearer token adds to a request, in CPU of the process and of Postgres: a path below /api
 * that there is not, which asks for a token before it says so, less a path beside it that does not ask.
 */
export const bearerCheckRow: Row = {
  goal: 16,
  title: 'bearer check',
  needs: ['pgbench', 'wrk'],
  async open(bench) {
    const world = await openReadWorld(bench);
    const list = world.asksOf(({ slug }) => `/api/cli/issues?repo=${slug}&limit=50`);
    const nothing = async (path: string): Promise<number> => {
      const options = { ...world.ours, seconds: world.seconds, workDir: bench.workDir, name: 'nothing' };
      const load = await loadWith({ ...options, asks: world.asksOf(() => path), expect: 'client-error' });
      return load.cpu?.services ?? Number.NaN;
    };
    const added = async (): Promise<Sample> => {
      const checked = await nothing('/api/nothing');
      return { value: checked - (await nothing('/nothing')), cpu: null };
    };
    return {
      cases: [
        {
          title: 'CPU of a bearer check / of a list request',
          unit: 'us CPU',
          ours: { name: 'bearer check', sample: added },
          anchors: [
            {
              contender: { name: 'list request', sample: () => costOf(() => world.load('issues', world.ours, list)) },
              bound: { atMost: 0.15 },
            },
          ],
        },
      ],
    };
  },
};

import { putLoopProblems } from '@pipeline/store';
import { Gauge } from 'prom-client';
import type { Wiring } from '../wiring/wiring.ts';

const PROBLEMS = ['failing', 'late'] as const;

/**
 * Publishes the loops of this process that fail or hang: as a metric, and in the store, where the detector
 * `loop_failing` of the leading monitor finds those of all monitors. Writes nothing while all loops work.
 */
export function createLoopWatch({ store, loops, metrics, instance }: Wiring): { check(): Promise<void> } {
  let written = true;
  new Gauge({
    name: 'svc_loop_problem',
    help: '1 while a background loop is failing (three consecutive failed runs) or late (no completed run for 60 s plus three intervals).',
    labelNames: ['loop', 'problem'],
    registers: [metrics.registry],
    collect() {
      const current = new Map(loops.problems().map(({ loop, problem }) => [loop, problem]));
      for (const loop of loops.names)
        for (const problem of PROBLEMS) this.set({ loop, problem }, current.get(loop) === problem ? 1 : 0);
    },
  });
  return {
    async check() {
      const troubles = loops.troubles();
      // What an earlier process of this name has left is removed by the first round.
      if (troubles.length === 0 && !written) return;
      written = true;
      await putLoopProblems(store.db, `monitor ${instance}`, troubles);
      written = troubles.length > 0;
    },
  };
}

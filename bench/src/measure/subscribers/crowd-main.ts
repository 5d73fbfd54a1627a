import { CrowdProcess } from './crowd-process.ts';
import type { Order, Target } from './tally.ts';

/** Obeys one order after the other; ends with its parent. */
const crowd = new CrowdProcess(JSON.parse(process.argv[2] ?? '') as Target);
let last: Promise<unknown> = Promise.resolve();
process.on('message', (order: Order) => {
  last = last.then(async () => {
    const reply = await crowd.obey(order).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error: (error as Error).message }),
    );
    process.send?.(reply);
  });
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

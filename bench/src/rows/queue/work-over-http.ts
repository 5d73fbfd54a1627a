import type { Outcome } from '@pipeline/domain';
import { inLanes } from '../../measure/lanes.ts';
import type { Sample } from '../../measure/sample.ts';
import { Stopwatch } from '../../measure/stopwatch.ts';
import { clearQueue, fillQueue, requireAllWorkedOff, TASK_TYPE } from '../../ours/queue.ts';
import type { OurStore } from '../../ours/store.ts';
import { LANES, type WorkerLoad } from '../../services/worker-load.ts';

/** The end of work that belongs to no issue: the queue alone, without the story of an issue (that is goal 15). */
const OUTCOME: Outcome = {
  outcome: 'retrospective',
  result: {
    outcomeClassification: 'success',
    summary: 'done',
    plannedFiles: null,
    actualFiles: null,
    failures: null,
    lessons: null,
  },
};

/** Claims and completes all tasks over HTTP. @param slots concurrent tasks of each of the 16 workers. */
export async function workOverHttp(
  ours: OurStore,
  workers: WorkerLoad,
  { tasks, slots }: { tasks: number; slots: number },
): Promise<Sample> {
  await clearQueue(ours);
  await fillQueue(ours, tasks);
  const given = new Set<string>();
  const watch = new Stopwatch(ours.pid);
  watch.begin();
  await inLanes(LANES * slots, async (lane) => {
    const claim = await workers.claim(lane, [TASK_TYPE]);
    if (!claim) return false;
    given.add(claim.id);
    await workers.complete(claim, OUTCOME);
    return true;
  });
  const sample = watch.rate(tasks);
  await requireAllWorkedOff(ours, given.size, tasks);
  return sample;
}

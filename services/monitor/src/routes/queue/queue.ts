import type { queueRoutes } from '@pipeline/contract';
import { TASK_TYPES } from '@pipeline/domain';
import type { Engine } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import { countOpenDeadLetters, depthByTaskType, storeNow, withoutWorkerByType, writeQueueDepth } from '@pipeline/store';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof queueRoutes, Authentication>;

/**
 * interface: Queue.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const queueHandlers = (deps: () => { engine: Engine }): Handlers => ({
  queueDepth: async () => {
    const { db } = deps().engine.store;
    const depths = new Map((await depthByTaskType(db)).map((depth) => [depth.taskType, depth]));
    const alone = new Map((await withoutWorkerByType(db)).map((tasks) => [tasks.taskType, tasks]));
    const byTaskType = TASK_TYPES.map((taskType) => ({
      ...(depths.get(taskType) ?? { taskType, pending: 0, claimed: 0, oldestPendingAgeMs: null }),
      withoutWorker: alone.get(taskType)?.count ?? 0,
      oldestWithoutWorkerAgeMs: alone.get(taskType)?.oldestMs ?? null,
    }));
    const writes = await writeQueueDepth(db);
    const body = {
      pendingTaskCount: byTaskType.reduce((sum, { pending }) => sum + pending, 0),
      claimedTaskCount: byTaskType.reduce((sum, { claimed }) => sum + claimed, 0),
      byTaskType,
      dlqDepth: await countOpenDeadLetters(db),
      vcsWriteQueueDepth: writes.depth,
      vcsWriteQueueFailed: writes.failed,
      serverTimestamp: await storeNow(db),
    };
    return { status: 200, body };
  },
});

import type { taskQueueRoutes } from '@pipeline/contract';
import type { TaskQueue } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';
import type { PolledValue } from '../../polling/polled-value.ts';

export interface TaskQueueDeps {
  taskQueue: PolledValue<TaskQueue>;
}

type Handlers = HandlersOf<typeof taskQueueRoutes, Authentication>;

const NOTHING: TaskQueue = {
  tasks: [],
  summary: { totalPending: 0, totalClaimed: 0, avgWaitMs: 0, oldestPendingAgeMs: null },
  pendingTaskCount: 0,
  projectedDrainMs: null,
  truncated: false,
};

/**
 * interface: Cache-backed observability.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const taskQueueHandlers = (deps: () => TaskQueueDeps): Handlers => {
  const whole = () => {
    const { last } = deps().taskQueue;
    const body = { ...(last?.value ?? NOTHING), polledAt: last?.polledAt ?? null };
    return { status: 200, body } as const;
  };
  return {
    listTaskQueue: () => {
      const { pendingTaskCount: _, projectedDrainMs: __, ...body } = whole().body;
      return { status: 200, body };
    },
    pipelineTaskQueue: whole,
    pipelineTaskQueueByName: whole,
  };
};

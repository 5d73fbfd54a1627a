import { COMPARED_TASK_WAIT_MS } from '@pipeline/domain';
import { releaseStrandedTask, type StrandedTask, strandedTasks } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import { countHandled } from '../context/handle-each.ts';

const BATCH = 500;

/**
 * Gives compared tasks to any agent when they have waited for 15 minutes and no worker with their agent is online. Such
 * a task, and every later attempt of it, does not count as compared.
 * @param onReleased called with each.
 * @returns how many were released.
 */
export async function releaseStranded(engine: Engine, onReleased?: (task: StrandedTask) => void): Promise<number> {
  const stranded = await strandedTasks(engine.store.db, COMPARED_TASK_WAIT_MS, BATCH);
  return countHandled('compared tasks to release', stranded, async (task) => {
    const key = { tenantId: task.tenant_id, taskId: task.id };
    if (!(await releaseStrandedTask(engine.store.db, key, COMPARED_TASK_WAIT_MS))) return false;
    engine.notify('svc_tasks', task.tenant_id);
    onReleased?.(task);
    return true;
  });
}

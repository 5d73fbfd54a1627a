import { request } from '../api/request.ts';
import type { ActionPlan } from './action.ts';

const drain = (id: string, isDraining: boolean) =>
  request('drainWorker', { params: { id }, body: { drain: isDraining } });

/** Stops or resumes claiming at once; can be undone. */
export const drainPlan = (id: string, name: string, isDraining: boolean): ActionPlan => ({
  grade: 0,
  verb: isDraining ? 'Drain' : 'Resume',
  object: name,
  effect: 'A draining worker finishes its task and claims no new one.',
  reason: 'none',
  run: async () =>
    (await drain(id, isDraining)).draining ? 'it finishes its task and claims no new one' : 'it claims tasks again',
  undo: () => drain(id, !isDraining),
});

export const reclaimPlan = (id: string, name: string): ActionPlan => ({
  grade: 1,
  verb: 'Reclaim',
  object: `the task of ${name}`,
  effect:
    'If its task is stalled, the task waits again and another worker may claim it. A task that makes progress stays.',
  reason: 'optional',
  run: async ({ reason }) => {
    const answer = await request('reclaimWorker', {
      params: { id },
      body: { ...(reason !== undefined && { reason }) },
    });
    return answer.reclaimed ? `task ${answer.taskId} waits again` : 'nothing was stalled';
  },
});

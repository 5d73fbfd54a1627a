import { readBlockedIssues, readTaskQueue } from '@pipeline/engine';
import { PolledValue } from '../polling/polled-value.ts';
import type { Wiring } from './wiring.ts';

/** Adds the lists of blocked and of waiting issues in memory, and the loops that read them. */
export function addLists({ loops, notifications, store, now, listsEveryMs }: Wiring) {
  const blocked = new PolledValue(() => readBlockedIssues(store), now);
  const taskQueue = new PolledValue(() => readTaskQueue(store), now);
  const blockedLoop = loops.add('blocked-issues', listsEveryMs, () => blocked.refresh());
  const queueLoop = loops.add('task-queue', listsEveryMs, () => taskQueue.refresh());
  notifications.on('svc_cache', () => blockedLoop.wake());
  return { blocked, taskQueue, loops: [blockedLoop.name, queueLoop.name] };
}

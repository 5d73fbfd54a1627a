import { releaseHandovers } from '@pipeline/store';
import type { Engine } from './context.ts';

/**
 * The worker of a withdrawn task knows that it must stop, so the task that waited for it may run. A worker that never
 * acknowledges blocks nothing: the hold ends with the old lease (releaseDue).
 */
export async function releaseHandover(
  engine: Engine,
  tenantId: number,
  dropped: readonly { taskId: string; tokenHash: string }[],
): Promise<void> {
  const released = await releaseHandovers(
    engine.store.tenant,
    tenantId,
    dropped.map((claim) => claim.tokenHash),
    engine.settings().costLimits.perIssueUsd,
  );
  if (released > 0) engine.ring('svc_tasks', tenantId);
}

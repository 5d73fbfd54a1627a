import { Counter } from 'prom-client';
import { Lead } from '../loops/lead.ts';
import { retentionTick } from '../loops/retention.ts';
import {
  aggregateTick,
  autoUnblockTick,
  budgetsTick,
  embeddingsTick,
  reclaimTick,
  releaseDueTick,
  releaseStrandedTick,
  releaseWaitingTick,
  scansTick,
  silenceTick,
  slaTick,
  staleIntelligenceTick,
  stalledTick,
} from '../loops/upkeep.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** The loops that keep the pipeline moving without a call. */
export function addUpkeep({ engine, notifications, loops, metrics, log }: Wiring): void {
  const unblocks = new Counter({
    name: 'svc_auto_unblocks_total',
    help: 'Automatic unblocks by this process.',
    labelNames: ['repo'],
    registers: [metrics.registry],
  });
  loops.add('reclaim', 5 * SECOND_MS, reclaimTick(engine));
  loops.add('stalled', 5 * SECOND_MS, stalledTick(engine));
  loops.add('worker-silence', 5 * SECOND_MS, silenceTick(engine));
  loops.add('release-due', 5 * SECOND_MS, releaseDueTick(engine));
  loops.add('release-compared', 30 * SECOND_MS, releaseStrandedTick(engine, log));
  loops.add(
    'auto-unblock',
    5 * SECOND_MS,
    autoUnblockTick(engine, (repo) => unblocks.inc({ repo })),
  );
  loops.add('issue-counts', 10 * SECOND_MS, aggregateTick(engine));
  loops.add('sla', 60 * SECOND_MS, slaTick(engine));
  loops.add('code-map-scans', 10 * SECOND_MS, scansTick(engine, new Lead(notifications, 'code-map-scans')));
  loops.add('intelligence-embeddings', 30 * SECOND_MS, embeddingsTick(engine, new Lead(notifications, 'embeddings')));
  loops.add('stale-intelligence', 60 * 60 * SECOND_MS, staleIntelligenceTick(engine));
  loops.add('retention', 60 * 60 * SECOND_MS, retentionTick(engine, new Lead(notifications, 'retention'), log));
  const budgets = loops.add('budgets', 5 * SECOND_MS, budgetsTick(engine));
  const waiting = loops.add('release-waiting', 5 * SECOND_MS, releaseWaitingTick(engine));
  notifications.on('svc_cache', () => {
    for (const loop of [waiting, budgets]) loop.wake();
  });
}

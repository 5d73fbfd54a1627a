import { Inbox, LabelReconciler, ParentWatch } from '@pipeline/engine';
import { sleep } from '@pipeline/runtime';
import { hostFinder } from '../hosts/hosts.ts';
import type { Wiring } from '../wiring/wiring.ts';
import { RepoPoller } from './repo-poller.ts';

const STOP_GRACE_MS = 3_000;

/**
 * Creates what reads the hosts: webhook deliveries, polls and reconciliation.
 * @returns null without a host: then deliveries wait.
 */
export function createIntake({ engine, hosts, notifications, loops, leader, log, now }: Wiring) {
  if (hosts.length === 0) return null;
  const hostOf = hostFinder(hosts);
  const deliveries = new Inbox({ engine, hostOf });
  deliveries.onLaneEnd = () => loops.wake('inbox');
  const poller = new RepoPoller({ engine, hostOf, leader, log, now });
  notifications.on('svc_cache', () => poller.lookAgain());
  return {
    hostOf,
    deliveries,
    poller,
    parents: new ParentWatch({ engine, hostOf, now, log }),
    labels: new LabelReconciler(engine, now),
    stop: () => Promise.all([withinGrace(deliveries.stop()), poller.stop()]),
  };
}

/** A delivery that the host holds up longer is handled by the next leader, from the start. */
async function withinGrace(stopped: Promise<void>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([stopped, sleep(STOP_GRACE_MS, ended.signal)]);
  ended.abort();
}

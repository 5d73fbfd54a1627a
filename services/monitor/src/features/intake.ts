import { Inbox, LabelReconciler, ParentWatch } from '@pipeline/engine';
import { sleep } from '@pipeline/runtime';
import { hostFinder } from '../hosts/hosts.ts';
import { inboxGauges } from '../intake/inbox-gauges.ts';
import { RepoPoller } from '../intake/repo-poller.ts';
import { Lead } from '../loops/lead.ts';
import { inboxTick, labelReconcilerTick, parentWatchTick, protectionTick } from '../loops/upkeep.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/** The loops that read the hosts: webhook deliveries, polls and reconciliation. Without a host, deliveries wait. */
export function addIntake({ engine, hosts, notifications, loops, metrics, store, log, now }: Wiring) {
  loops.add('inbox-backlog', 15 * SECOND_MS, inboxGauges(metrics.registry, store).refresh);
  if (hosts.length === 0) return { loops: [], landed: async () => false, stop: async () => undefined };
  const hostOf = hostFinder(hosts);
  const deliveries = new Inbox({ engine, hostOf });
  const inbox = loops.add('inbox', SECOND_MS, inboxTick(engine, deliveries, new Lead(notifications, 'inbox')));
  deliveries.onLaneEnd = () => inbox.wake();
  const poller = new RepoPoller({ engine, hostOf, lead: new Lead(notifications, 'intake-poll'), log, now });
  const poll = loops.add('intake-poll', SECOND_MS, () => poller.tick());
  const parents = new ParentWatch({ engine, hostOf, now, log });
  loops.add('parent-watch', 30 * SECOND_MS, parentWatchTick(engine, parents, new Lead(notifications, 'parent-watch')));
  const labels = new LabelReconciler(engine, now);
  loops.add('label-walk', 60 * SECOND_MS, labelReconcilerTick(engine, labels, new Lead(notifications, 'label-walk')));
  const protections = loops.add(
    'push-protection',
    5 * 60 * SECOND_MS,
    protectionTick(engine, hostOf, new Lead(notifications, 'push-protection'), log),
  );
  notifications.on('svc_inbox', () => inbox.wake());
  notifications.on('svc_cache', () => {
    protections.wake();
    poller.lookAgain();
    poll.wake();
  });
  return {
    loops: [inbox.name, poll.name],
    landed: async () => (await Promise.all([deliveries.settled(), poller.landed()])).includes(true),
    stop: () => Promise.all([withinGrace(deliveries.stop()), poller.stop()]),
  };
}

const STOP_GRACE_MS = 3_000;

/** A delivery that the host holds up longer is handled by the next leader, from the start. */
async function withinGrace(stopped: Promise<void>): Promise<void> {
  const ended = new AbortController();
  await Promise.race([stopped, sleep(STOP_GRACE_MS, ended.signal)]);
  ended.abort();
}

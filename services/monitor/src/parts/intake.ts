import { LabelWalk, ParentWatch } from '@pipeline/engine';
import { hostFinder } from '../hosts.ts';
import { Lead } from '../loops/lead.ts';
import { RepoPoller } from '../loops/repo-poller.ts';
import { inboxTick, labelWalkTick, parentWatchTick } from '../loops/upkeep.ts';
import { SECOND_MS, type Wiring } from './wiring.ts';

/**
 * What hosts tell and what they are asked. Without a host there is nothing to poll, and nobody to ask about a webhook:
 * deliveries wait.
 */
export function addIntake({ engine, hosts, doorbell, loops, log, now }: Wiring) {
  if (hosts.length === 0) return { loops: [], landed: async () => false, stop: async () => undefined };
  const hostOf = hostFinder(hosts);
  const inbox = loops.add('inbox', SECOND_MS, inboxTick(engine, hostOf, new Lead(doorbell, 'inbox')));
  const poller = new RepoPoller({ engine, hostOf, lead: new Lead(doorbell, 'intake-poll'), log, now });
  const poll = loops.add('intake-poll', SECOND_MS, () => poller.tick());
  const parents = new ParentWatch({ engine, hostOf, now, log });
  loops.add('parent-watch', 30 * SECOND_MS, parentWatchTick(engine, parents, new Lead(doorbell, 'parent-watch')));
  const labels = new LabelWalk(engine, now);
  loops.add('label-walk', 60 * SECOND_MS, labelWalkTick(engine, labels, new Lead(doorbell, 'label-walk')));
  doorbell.on('svc_cache', () => {
    inbox.wake();
    poller.lookAgain();
    poll.wake();
  });
  return { loops: [inbox.name, poll.name], landed: () => poller.landed(), stop: () => poller.stop() };
}

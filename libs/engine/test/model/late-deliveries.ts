import type { HostEvent } from '@pipeline/domain';
import fc from 'fast-check';
import { NOTHING, type Step, type Verdict } from './step.ts';
import type { World } from './world.ts';

const ANY: Verdict = { moves: 'all' };

const step = (name: string, index: fc.Arbitrary<number>, run: (world: World, index: number) => Promise<Verdict>) =>
  index.map(
    (data): Step => ({
      name,
      data,
      onIssue: false,
      run: (_model, world) => run(world, data),
    }),
  );

async function deliverOne(world: World, event: HostEvent | undefined): Promise<Verdict> {
  if (!event) return NOTHING;
  await world.acts.deliver([structuredClone(event)]);
  return ANY;
}

/** Removes one of a list of webhooks, for any index. */
const takeAt = (webhooks: HostEvent[], index: number): HostEvent | undefined =>
  webhooks.splice(index % Math.max(1, webhooks.length), 1)[0];

/** A webhook overtakes those before it. */
const overtakes = step('deliverOutOfOrder', fc.nat(6), (world, index) =>
  deliverOne(world, takeAt(world.host.state.webhooks, index)),
);

/** A webhook is delayed, and arrives long after later events. */
const delays = step('delayWebhook', fc.nat(6), async ({ host }, index) => {
  const event = takeAt(host.state.webhooks, index);
  if (event) host.state.delayed.push(event);
  return NOTHING;
});
const delayed = step('deliverDelayed', fc.nat(6), (world, index) =>
  deliverOne(world, takeAt(world.host.state.delayed, index)),
);

/** The host repeats a webhook as another delivery, however old it is. */
const repeats = step('deliverAgain', fc.nat(30), (world, back) => {
  const { sent } = world.host.state;
  return deliverOne(world, sent[sent.length - 1 - (back % Math.max(1, sent.length))]);
});

export const LATE_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: overtakes },
  { weight: 2, arbitrary: delays },
  { weight: 3, arbitrary: delayed },
  { weight: 3, arbitrary: repeats },
);

/** Delayed webhooks finally arrive. */
export function releaseDelayed({ host }: Pick<World, 'host'>): void {
  host.state.webhooks.push(...host.state.delayed.splice(0));
}

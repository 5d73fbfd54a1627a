import { ENQUEUE_LABEL, type HostEvent } from '@pipeline/domain';
import fc from 'fast-check';
import { pass, type World } from '../world/world.ts';
import { pick, type Step } from './step.ts';
import { NOTHING, type Verdict } from './verdict.ts';

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

const isRequestFor = (number: number, event: HostEvent): boolean =>
  event.kind === 'issue' &&
  event.issue.number === number &&
  (event.action === 'reopened' || (event.action === 'labeled' && event.label === ENQUEUE_LABEL));

/** An issue ends, and before its close reaches the host an earlier request for it is delivered again. */
const afterTheEnd: fc.Arbitrary<Step> = fc.record({ issue: fc.nat(4), back: fc.nat(3) }).map((data) => ({
  name: 'deliverAfterTheEnd',
  data,
  onIssue: true,
  async run(model, world) {
    const number = pick(model, data.issue);
    const requests = world.host.state.sent.filter((event) => isRequestFor(number, event));
    pass(world, 2);
    if (model.issues.get(number)?.state !== 'done') await world.acts.act(number, 'cancel');
    await deliverOne(world, requests.at(-1 - (data.back % Math.max(1, requests.length))));
    return ANY;
  },
}));

export const LATE_STEPS: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: overtakes },
  { weight: 2, arbitrary: delays },
  { weight: 3, arbitrary: delayed },
  { weight: 3, arbitrary: repeats },
  { weight: 1, arbitrary: afterTheEnd },
);

/** Delayed webhooks finally arrive. */
export function releaseDelayed({ host }: Pick<World, 'host'>): void {
  host.state.webhooks.push(...host.state.delayed.splice(0));
}

import { STREAM_EVENTS, type StreamEventType, type Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import type { Probe } from './probe.ts';
import { readStream, type StreamMessage } from './read-stream.ts';

/** Milliseconds; a heartbeat comes every 30 s. */
const HEARTBEAT_WITHIN_MS = 35_000;
/** Milliseconds until replayed messages have come. */
const REPLAY_WITHIN_MS = 5_000;
/** Messages that are compared. */
const SOME = 5;

export const streamChecks = ({ routes }: Surface): Check[] =>
  routes.some(({ id }) => id === 'streamEvents') ? [refusesTypes, beats, replays] : [];

const stream = { suite: 'stream', endpoint: 'streamEvents' } as const;

const refusesTypes: Check = {
  ...stream,
  name: 'refuses an unknown event type',
  async run(probe) {
    mustEqual('status', (await probe.send('/api/events?types=odd')).status, 400);
  },
};

const beats: Check = {
  ...stream,
  name: 'sends declared messages with increasing ids, and a heartbeat within 30 seconds',
  async run(probe) {
    const isBeat = ({ event }: StreamMessage) => event === 'heartbeat';
    const messages = await open(probe, {}, HEARTBEAT_WITHIN_MS, (all) => all.some(isBeat));
    must(messages.some(isBeat), 'no heartbeat came within 35 seconds');
    mustBeDeclared(messages);
  },
};

const replays: Check = {
  ...stream,
  name: 'replays buffered messages after Last-Event-ID without a gap or a repetition',
  async run(probe) {
    const has = (some: number) => (all: readonly StreamMessage[]) => all.length >= some;
    const all = await open(probe, { 'last-event-id': '0' }, REPLAY_WITHIN_MS, has(SOME + 1));
    // New events push the oldest ones out of the buffer, so the latest are compared.
    const [first, ...others] = all.slice(-SOME - 1);
    if (!first || others.length === 0) return;
    mustBeDeclared(all);
    const again = await open(probe, { 'last-event-id': first.id }, REPLAY_WITHIN_MS, has(others.length));
    const wanted = others.map(({ id }) => id);
    mustEqual(
      `ids after ${first.id}`,
      again.slice(0, wanted.length).map(({ id }) => id),
      wanted,
    );
  },
};

async function open(
  probe: Probe,
  headers: Record<string, string>,
  withinMs: number,
  isEnough: (messages: readonly StreamMessage[]) => boolean,
): Promise<StreamMessage[]> {
  const credential = probe.good('operator');
  const { url } = probe.tested.target;
  const sent = { accept: 'text/event-stream', ...headers, ...credential.headers };
  probe.last = { request: { method: 'GET', address: '/api/events', headers: sent }, credential };
  return readStream(`${url}/api/events`, sent, { withinMs, isEnough });
}

function mustBeDeclared(messages: readonly StreamMessage[]): void {
  let last = -1;
  for (const { id, event, data } of messages) {
    must(/^\d+$/.test(id), `the id ${JSON.stringify(id)} is no number`);
    // Without a store a heartbeat repeats the latest id.
    must(Number(id) > last || (event === 'heartbeat' && Number(id) === last), `id ${id} follows id ${last}`);
    last = Number(id);
    const schema = STREAM_EVENTS[event as StreamEventType];
    must(schema !== undefined, `the event type ${event} is not declared`);
    const parsed = schema.strict().safeParse(data);
    const [issue] = parsed.error?.issues ?? [];
    must(parsed.success, `${event}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
}

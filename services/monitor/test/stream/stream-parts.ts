import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, describe, expect, test } from '@jest/globals';
import { sleep } from '@pipeline/runtime';
import { until } from '@pipeline/testing';
import fc from 'fast-check';
import { Broadcast, type Frame, keyOf, passes, type StreamFilter } from '../../src/stream/broadcast.ts';
import { EventWindow } from '../../src/stream/event-feed.ts';
import { StreamLoop } from '../../src/stream/live-stream.ts';
import { database } from './database.ts';

describe('parts of the stream', () => {
  const frame = (id: number, over: Partial<Frame> = {}): Frame => ({
    id,
    type: 'alert',
    tenantId: 1,
    repo: null,
    text: `${id};`,
    ...over,
  });

  describe('what is kept for clients that come back', () => {
    test('keeps the newest facts, and reports a gap exactly when more was missed', () => {
      const facts = fc.array(fc.record({ beat: fc.boolean(), batch: fc.boolean() }), { maxLength: 60 });
      fc.assert(
        fc.property(facts, fc.integer({ min: 1, max: 10 }), fc.nat(70), (made, size, since) => {
          const window = new EventWindow(size);
          const frames = made.map(({ beat }, n) => frame(n + 1, { type: beat ? 'heartbeat' : 'alert' }));
          const batch: Frame[] = [];
          for (const [n, one] of frames.entries()) {
            batch.push(one);
            if (made[n]?.batch) window.push(batch.splice(0));
          }
          window.push(batch);
          const all = frames.filter(({ type }) => type === 'alert');
          const missed = all.filter(({ id }) => id > since);
          const { gap, frames: replayed } = window.since(since);
          expect(replayed).toEqual(missed.slice(-size));
          expect(gap).toBe(missed.length > replayed.length);
        }),
      );
    });
  });

  describe('filters', () => {
    const filter: fc.Arbitrary<StreamFilter> = fc.record({
      repo: fc.option(fc.record({ tenantId: fc.nat(2), slug: fc.constantFrom('a/b', 'a/c') })),
      types: fc.option(fc.uniqueArray(fc.constantFrom('alert', 'cost-update', 'heartbeat'))),
    });
    const some = fc.record({
      tenantId: fc.nat(2),
      repo: fc.constantFrom('a/b', 'a/c', null),
      type: fc.constantFrom('alert', 'cost-update', 'heartbeat') as fc.Arbitrary<Frame['type']>,
    });

    test('filters of equal keys let the same frames pass', () => {
      fc.assert(
        fc.property(filter, filter, some, (one, two, over) => {
          fc.pre(keyOf(one) === keyOf(two));
          expect(passes(one, frame(1, over))).toBe(passes(two, frame(1, over)));
        }),
      );
    });
  });

  /** A response whose writes take long. */
  class SlowResponse extends EventEmitter {
    readonly writes: string[] = [];
    writableLength = 0;
    readonly #ms: number;

    constructor(ms: number) {
      super();
      this.#ms = ms;
    }

    write(bytes: Buffer): void {
      const end = performance.now() + this.#ms;
      while (performance.now() < end);
      this.writes.push(bytes.toString());
    }

    end(text: string): void {
      this.writes.push(text);
    }
  }

  const everything: StreamFilter = { repo: null, types: null };
  const clientOf = (response: SlowResponse, after = 0) => ({
    response: response as unknown as ServerResponse,
    filter: everything,
    after,
  });

  describe('writing to many', () => {
    test('writes cheap events at once, one by one', async () => {
      const broadcast = new Broadcast();
      const quick = new SlowResponse(0);
      broadcast.add(clientOf(quick));
      for (let id = 1; id <= 3; id += 1) {
        broadcast.send([frame(id)]);
        await until('it is written', () => quick.writes.length === id);
      }
      expect(quick.writes).toEqual(['1;', '2;', '3;']);
    });

    test('events that come while a costly round rests leave in one write, and none is lost', async () => {
      const broadcast = new Broadcast();
      const slow = new SlowResponse(5);
      broadcast.add(clientOf(slow));
      for (let id = 1; id <= 50; id += 1) broadcast.send([frame(id)]);
      expect(slow.writes).toEqual(['1;']);
      await until('the rest is written', () => slow.writes.length === 2);
      expect(slow.writes[1]).toBe(Array.from({ length: 49 }, (_, n) => `${n + 2};`).join(''));
      broadcast.end();
    });

    test('writes the waiting frames before the farewell at the end, and nothing after it', async () => {
      const broadcast = new Broadcast();
      const slow = new SlowResponse(5);
      broadcast.add(clientOf(slow));
      for (let id = 1; id <= 3; id += 1) broadcast.send([frame(id)]);
      broadcast.end();
      await sleep(0);
      expect(slow.writes).toEqual(['1;', '2;3;', ': closing\n\n']);
    });

    test('a client that is further gets only what is new to it', () => {
      const broadcast = new Broadcast();
      const [all, some] = [new SlowResponse(0), new SlowResponse(0)];
      broadcast.add(clientOf(all));
      broadcast.add(clientOf(some, 2));
      broadcast.send([frame(1), frame(2), frame(3)]);
      expect([all.writes, some.writes]).toEqual([['1;2;3;'], ['3;']]);
    });
  });

  describe('the stream of a replica', () => {
    test.each([
      { of: 'facts to be numbered, by itself', channels: [4], isOwn: true, woken: true },
      { of: 'what another one has numbered', channels: [0], isOwn: false, woken: true },
      { of: 'what it has numbered itself', channels: [0], isOwn: true, woken: false },
      { of: 'both in one notification', channels: [0, 4], isOwn: true, woken: true },
      { of: 'anything, after a reconnect', channels: null, isOwn: false, woken: true },
      { of: 'anything, by itself', channels: null, isOwn: true, woken: true },
    ])('a notification of $of wakes the stream: $woken', ({ channels, isOwn, woken }) => {
      let wakes = 0;
      const loop = new StreamLoop({ engine: {} as never, feed: {} as never });
      loop.wakes(() => {
        wakes += 1;
      })(channels, isOwn);
      expect(wakes).toBe(woken ? 1 : 0);
    });
  });

  afterAll(() => database.clear());
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RateReading } from '../../src/hosts/hosts.ts';
import { spendingFetch, WriteBudget } from '../../src/hosts/write-budget.ts';

describe('the write budget', () => {
  const LIMITS = { perMinute: 8, perHour: 30 };

  describe('write budget', () => {
    test('no 60 seconds and no hour ever hold more writes than the limits', () => {
      const waits = fc.array(fc.integer({ min: 0, max: 90_000 }), { maxLength: 300 });
      fc.assert(
        fc.property(waits, (pauses) => {
          let time = 1_000_000;
          const budget = new WriteBudget(
            () => LIMITS,
            () => new Date(time),
          );
          const writes: number[] = [];
          for (const pause of pauses) {
            time += pause;
            if (budget.left() === 0) continue;
            budget.spend();
            writes.push(time);
          }
          const most = (windowMs: number) =>
            Math.max(0, ...writes.map((end) => writes.filter((at) => at <= end && at > end - windowMs).length));
          expect(most(60_000)).toBeLessThanOrEqual(LIMITS.perMinute);
          expect(most(3_600_000)).toBeLessThanOrEqual(LIMITS.perHour);
        }),
      );
    });

    test('a spent write is free again when its minute and its hour are over', () => {
      let time = 0;
      const budget = new WriteBudget(
        () => LIMITS,
        () => new Date(time),
      );
      for (let n = 0; n < 8; n += 1) budget.spend();
      expect(budget.left()).toBe(0);
      time += 59_999;
      expect(budget.left()).toBe(0);
      time += 1;
      expect(budget.left()).toBe(8);
      for (let n = 0; n < 22; n += 1) budget.spend();
      time += 60_000;
      expect(budget.left()).toBe(0);
      time += 3_480_000;
      expect(budget.left()).toBe(8);
    });

    test('concurrent attempts never spend more than the limits together', () => {
      const attempts = fc.array(
        fc.record({ writes: fc.integer({ min: 1, max: 6 }), wait: fc.nat(20_000), lasts: fc.nat(30_000) }),
        {
          maxLength: 120,
        },
      );
      fc.assert(
        fc.property(attempts, (requests) => {
          let time = 1_000_000;
          const clock = () => new Date(time);
          const budget = new WriteBudget(() => LIMITS, clock);
          const written: number[] = [];
          let flights: { endsAt: number; writes: number; free: () => void }[] = [];
          const land = () => {
            for (const flight of flights.filter(({ endsAt }) => endsAt <= time)) {
              for (let n = 0; n < flight.writes; n += 1) {
                budget.spend();
                written.push(time);
              }
              flight.free();
            }
            flights = flights.filter(({ endsAt }) => endsAt > time);
          };
          for (const { writes, wait, lasts } of requests) {
            time += wait;
            land();
            const free = budget.reserve(writes);
            if (free) flights.push({ endsAt: time + lasts, writes, free });
          }
          const most = (windowMs: number) =>
            Math.max(0, ...written.map((end) => written.filter((at) => at <= end && at > end - windowMs).length));
          expect(most(60_000)).toBeLessThanOrEqual(LIMITS.perMinute);
          expect(most(3_600_000)).toBeLessThanOrEqual(LIMITS.perHour);
        }),
      );
    });

    test('an attempt of more writes than the limit has its turn when nothing else was written', () => {
      let time = 0;
      const budget = new WriteBudget(
        () => LIMITS,
        () => new Date(time),
      );
      budget.spend();
      expect(budget.reserve(100)).toBeNull();
      time += 60_000;
      expect(budget.reserve(100)).not.toBeNull();
      expect(budget.reserve(1)).toBeNull();
    });

    test('counts only requests that change something', async () => {
      const budget = new WriteBudget(
        () => LIMITS,
        () => new Date(0),
      );
      const send = spendingFetch(budget, async () => new Response());
      await send('http://127.0.0.1/');
      await send('http://127.0.0.1/', { method: 'head' });
      expect(budget.left()).toBe(8);
      for (const method of ['POST', 'patch', 'PUT', 'DELETE']) await send('http://127.0.0.1/', { method });
      expect(budget.left()).toBe(4);
    });
  });
});

describe('the rate of the host', () => {
  const NOW = Date.parse('2026-03-01T00:00:00Z');

  /** Reads the rate limit from a sequence of answers. */
  async function readingOf(...answers: [status: number, headers: Record<string, string>][]): Promise<RateReading> {
    const reading = new RateReading(() => new Date(NOW));
    const queue = [...answers];
    const watched = reading.watching(async () => {
      const [status, headers] = queue.shift() ?? [200, {}];
      return new Response(null, { status, headers });
    });
    for (const _answer of answers) await watched('http://127.0.0.1/');
    return reading;
  }
  const inMinutes = (minutes: number) => String(NOW / 1_000 + minutes * 60);

  test('a host that has reported no limit has none', async () => {
    const reading = await readingOf([200, {}]);
    expect([reading.remaining, reading.limitedMinutes()]).toEqual([null, 0]);
  });

  test('the remaining budget is that of the last response, searches apart', async () => {
    const search = { 'x-ratelimit-remaining': '3', 'x-ratelimit-resource': 'search' };
    expect((await readingOf([200, { 'x-ratelimit-remaining': '4999' }], [200, search])).remaining).toBe(4_999);
  });

  test.each([
    ['a reset', 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': inMinutes(12) }, 12],
    ['a wait in seconds', 403, { 'retry-after': '90' }, 2],
    ['no time', 429, {}, 1],
    ['a missing right', 403, { 'x-ratelimit-remaining': '100' }, 0],
  ] as [string, number, Record<string, string>, number][])(
    'a refusal with %s',
    async (_name, status, headers, minutes) => {
      const reading = await readingOf([status, headers]);
      expect(reading.limitedMinutes()).toBe(minutes);
      expect((await readingOf([status, headers], [200, {}])).limitedMinutes()).toBe(0);
    },
  );
});

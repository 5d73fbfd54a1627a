import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { spendingFetch, WriteBudget } from '../../src/hosts/write-budget.ts';

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

  test('what was spent comes back when its minute and its hour are over', () => {
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

  test('only requests that change something are counted', async () => {
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

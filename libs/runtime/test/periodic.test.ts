import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createMetrics, type Periodic, runPeriodically, silentLogger, type Tick } from '../src/index.ts';

// Timers are held by the test; promises run as always.
beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
const loopOf = (tick: Tick, options = {}): Periodic =>
  runPeriodically(tick, { name: 'test', everyMs: 100, jitter: 0, log: silentLogger, ...options });

function gate() {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { opened, open };
}

describe('runPeriodically', () => {
  test('ticks at once, then each time everyMs after the end of the last', async () => {
    const tick = jest.fn(async () => undefined);
    const loop = loopOf(tick);
    loop.start();
    await pass(0);
    expect(tick).toHaveBeenCalledTimes(1);
    await pass(350);
    expect(tick).toHaveBeenCalledTimes(4);
    await loop.stop();
  });

  test('a pace that is a function is asked after each tick', async () => {
    let everyMs = 100;
    const tick = jest.fn(async () => undefined);
    const loop = loopOf(tick, { everyMs: () => everyMs });
    loop.start();
    await pass(150);
    expect(tick).toHaveBeenCalledTimes(2);
    everyMs = 1_000;
    await pass(60);
    expect(tick).toHaveBeenCalledTimes(3);
    await pass(900);
    expect(tick).toHaveBeenCalledTimes(3);
    await pass(110);
    expect(tick).toHaveBeenCalledTimes(4);
    await loop.stop();
  });

  test('never runs two ticks at once, by hand, by wake or by the clock', async () => {
    let running = 0;
    let most = 0;
    const { opened, open } = gate();
    const loop = loopOf(async () => {
      most = Math.max(most, ++running);
      await opened;
      running -= 1;
    });
    loop.start();
    await pass(0);
    const byHand = [loop.tick(), loop.tick()];
    loop.wake();
    await pass(1_000);
    open();
    await Promise.all(byHand);
    await pass(1_000);
    await loop.stop();
    expect(most).toBe(1);
  });

  test('stop waits for the tick in flight, aborts its signal, and leaves no timer', async () => {
    const { opened, open } = gate();
    let ended = false;
    const seen: AbortSignal[] = [];
    const loop = loopOf(async (signal) => {
      seen.push(signal);
      await opened;
      ended = true;
    });
    loop.start();
    await pass(0);
    let settled = false;
    const stopped = loop.stop().then(() => {
      settled = true;
    });
    expect(seen[0]?.aborted).toBe(true);
    await pass(1_000);
    expect([ended, settled]).toEqual([false, false]);
    open();
    await stopped;
    expect(ended).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('stop is safe twice, before start, and nothing starts after it', async () => {
    const tick = jest.fn(async () => undefined);
    const loop = loopOf(tick);
    await Promise.all([loop.stop(), loop.stop()]);
    loop.start();
    loop.wake();
    await loop.tick();
    await pass(500);
    expect(tick).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });

  test('an outer signal stops it, and its listener goes', async () => {
    const outer = new AbortController();
    const remove = jest.spyOn(outer.signal, 'removeEventListener');
    const loop = loopOf(async () => undefined, { signal: outer.signal });
    loop.start();
    await pass(0);
    outer.abort();
    expect(jest.getTimerCount()).toBe(0);
    await loop.stop();
    expect(remove).toHaveBeenCalled();
  });

  test('a tick that throws is logged, counted and followed by the next', async () => {
    const metrics = createMetrics();
    const error = jest.fn();
    const onError = jest.fn();
    let times = 0;
    const loop = loopOf(
      async () => {
        times += 1;
        if (times <= 2) throw new Error('boom');
      },
      { log: { ...silentLogger, error }, onError, metrics: metrics.loops },
    );
    loop.start();
    await pass(100);
    expect(loop.state).toMatchObject({ consecutiveFailures: 2, lastError: new Error('boom') });
    await pass(100);
    expect(loop.state).toMatchObject({ consecutiveFailures: 0, lastError: null });
    expect(error).toHaveBeenCalledTimes(2);
    expect(onError).toHaveBeenCalledTimes(2);
    const text = await metrics.registry.metrics();
    expect(text).toContain('svc_loop_runs_total{loop="test",outcome="error"} 2');
    expect(text).toContain('svc_loop_runs_total{loop="test",outcome="ok"} 1');
    await loop.stop();
  });

  test('many wakes are one tick, also while one is in flight', async () => {
    const gates = [gate(), gate()];
    let count = 0;
    const loop = loopOf(async () => {
      await gates[count++]?.opened;
    });
    loop.start();
    await pass(0);
    for (let i = 0; i < 5; i++) loop.wake();
    gates[0]?.open();
    await pass(0);
    expect(count).toBe(2);
    gates[1]?.open();
    await pass(99);
    expect(count).toBe(2);
    await pass(1);
    expect(count).toBe(3);
    await loop.stop();
  });

  test("'again' runs the next tick at once", async () => {
    let left = 3;
    const tick = jest.fn(async () => (--left > 0 ? 'again' : 'done'));
    const loop = loopOf(tick);
    loop.start();
    await pass(5);
    expect(tick).toHaveBeenCalledTimes(3);
    await loop.stop();
  });

  test('tick by hand runs one round without a timer and throws its failure', async () => {
    const loop = loopOf(async () => Promise.reject(new Error('boom')));
    await expect(loop.tick()).rejects.toThrow('boom');
    expect(jest.getTimerCount()).toBe(0);
  });

  test('records when it ran and how long by the given clock', async () => {
    let now = 1_000;
    const loop = loopOf(
      async () => {
        now += 250;
      },
      { now: () => new Date(now) },
    );
    await loop.tick();
    expect(loop.state).toMatchObject({ lastRunAt: new Date(1_000), lastDurationMs: 250 });
  });
});

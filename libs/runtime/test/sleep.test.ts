import { describe, expect, test } from '@jest/globals';
import { DeadlineError, sleep, withDeadline } from '../src/index.ts';

describe('sleep', () => {
  test('returns whether it slept the whole time', async () => {
    expect(await sleep(1)).toBe(true);
    expect(await sleep(60_000, AbortSignal.abort())).toBe(false);
    const stop = new AbortController();
    const sleeping = sleep(60_000, stop.signal);
    stop.abort();
    expect(await sleeping).toBe(false);
  });
});

describe('withDeadline', () => {
  test('gives what the work gives, failures too', async () => {
    expect(await withDeadline(Promise.resolve(7), 60_000, 'work')).toBe(7);
    await expect(withDeadline(Promise.reject(new Error('no')), 60_000, 'work')).rejects.toThrow('no');
  });

  test('names what took too long', async () => {
    const never = new Promise(() => undefined);
    await expect(withDeadline(never, 5, 'closing the pool')).rejects.toThrow(new DeadlineError('closing the pool', 5));
  });
});

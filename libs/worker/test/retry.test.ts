import { expect, test } from '@jest/globals';
import { ApiFailure } from '@pipeline/contract';
import { silentLogger } from '@pipeline/runtime';
import { isTransient, retrying } from '../src/client/retry.ts';

test('pauses double from the first to the longest one, with jitter, while a call fails', async () => {
  const pauses: number[] = [];
  const log = { ...silentLogger, warn: (_text: string, fields?: object) => void pauses.push(Object(fields).pauseMs) };
  let calls = 0;
  const call = async () => {
    calls += 1;
    if (calls <= 6) throw new TypeError('fetch failed');
    return 'done';
  };
  const { signal } = new AbortController();
  expect(await retrying('a call', call, { signal, log, baseMs: 4, maxMs: 16 })).toBe('done');
  const longest = [4, 8, 16, 16, 16, 16];
  expect(pauses).toHaveLength(longest.length);
  for (const [index, most] of longest.entries()) {
    expect(pauses[index]).toBeLessThanOrEqual(most);
    expect(pauses[index]).toBeGreaterThanOrEqual(most / 2);
  }
});

test('a call is repeated when the service is overloaded or fails, and not when it refuses', () => {
  const failure = (status: number) =>
    new ApiFailure({ status, code: 'INTERNAL_ERROR', error: 'no' } as never, new Headers());
  expect([429, 500, 503].filter((status) => !isTransient(failure(status)))).toEqual([]);
  expect([400, 401, 404, 409].filter((status) => isTransient(failure(status)))).toEqual([]);
});

import { expect, test } from '@jest/globals';
import { RateReading } from '../../src/hosts/hosts.ts';

const NOW = Date.parse('2026-03-01T00:00:00Z');

/** Returns the reading after responses like these, one after the other. */
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

test('a host that has said nothing limits nobody', async () => {
  const reading = await readingOf([200, {}]);
  expect([reading.remaining, reading.limitedMinutes()]).toEqual([null, 0]);
});

test('what is left is that of the last answer, searches apart', async () => {
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

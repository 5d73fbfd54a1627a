import { expect, test } from '@jest/globals';
import { metricsText } from '../../src/prometheus/metrics-text.ts';

test('one text of the metrics serves everybody for as long as it is kept, and not longer', async () => {
  let made = 0;
  let ms = 5;
  const metrics = metricsText({ metrics: async () => `${++made}` }, 1_000, () => ms);
  const text = async () => (await metrics()).text;
  expect(await Promise.all([text(), text()])).toEqual(['1', '1']);
  ms = 1_004;
  expect(await text()).toBe('1');
  ms = 1_005;
  expect(await text()).toBe('2');
});

test('a text that could not be made serves nobody else', async () => {
  let made = 0;
  const metrics = async () => {
    made += 1;
    if (made === 1) throw new Error('broken gauge');
    return `${made}`;
  };
  const body = metricsText({ metrics }, 1_000, () => 0);
  await expect(body()).rejects.toThrow('broken gauge');
  expect((await body()).text).toBe('2');
});

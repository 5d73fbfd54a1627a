import dns from 'node:dns/promises';
import { expect, jest, test } from '@jest/globals';
import { createMetrics, serveMetrics } from '../src/metrics.ts';

/** Names in a container network, where replicas share one. */
function resolveTo(...addresses: string[]): void {
  const found = addresses.map((address) => ({ address, family: 4 }));
  jest.spyOn(dns, 'lookup').mockResolvedValue(found as never);
}

test('listens on the address of this machine when a name stands for several', async () => {
  resolveTo('192.0.2.7', '127.0.0.1', '192.0.2.8');
  const served = await serveMetrics(createMetrics().registry, { host: 'monitor-metrics' });
  const response = await fetch(`${served.url}/metrics`);
  await served.close();
  expect(new URL(served.url).hostname).toBe('127.0.0.1');
  expect(response.status).toBe(200);
});

test('refuses a name that stands for other machines only', async () => {
  resolveTo('192.0.2.7');
  const listening = serveMetrics(createMetrics().registry, { host: 'monitor-metrics.invalid' });
  await expect(listening).rejects.toThrow('cannot listen on monitor-metrics.invalid:0');
});

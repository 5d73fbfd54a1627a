import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { connectFrom, readEgress } from '../src/sandbox/egress.ts';
import { BUBBLEWRAP } from './agent-bench.ts';
import { connectionsFrom, SEEN, TARGETS } from './egress-probe.ts';

const root = mkdtempSync(join(tmpdir(), 'egress-'));
afterAll(() => rmSync(root, { recursive: true }));
const whenConfined = BUBBLEWRAP === null ? test.skip : test;

describe('a program in bubblewrap with a list of hosts', () => {
  whenConfined(
    'reaches these hosts through the proxy, and neither plain addresses nor services of the machine',
    async () => {
      const found = await connectionsFrom('bubblewrap', TARGETS);
      expect(found).toEqual(SEEN.map((line) => expect.stringMatching(line)));
    },
  );
});

describe('the way to a host', () => {
  test('leads through the proxy of the machine when there is one', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createHttpServer().on('connect', ({ url }, socket) => {
      asked.push(url);
      socket.end('HTTP/1.1 200 OK\r\n\r\nhello');
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const stream = await connectFrom({ HTTPS_PROXY: `http://127.0.0.1:${port}` })('api.example.org');
    stream.destroy();
    proxy.close();
    expect(asked).toEqual(['api.example.org:443']);
  });

  test('throws when the name is one of this machine', async () => {
    await expect(connectFrom({})('localhost')).rejects.toThrow('no address outside this machine');
  });
});

test('the list of hosts throws for an address', () => {
  const file = join(root, 'egress.txt');
  writeFileSync(file, '# models\nAPI.example.org # the model\n.trusted.example\n');
  expect(readEgress(file)).toEqual(['api.example.org', '.trusted.example']);
  writeFileSync(file, '10.0.0.1\n');
  expect(() => readEgress(file)).toThrow('10.0.0.1 is no host name');
});

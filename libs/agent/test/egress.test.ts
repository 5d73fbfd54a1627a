import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { taskFolders } from '../src/git/tree-folders.ts';
import { chooseSandbox } from '../src/sandbox/choose-sandbox.ts';
import { connectFrom, EgressProxy, readEgress } from '../src/sandbox/egress.ts';

const root = mkdtempSync(join(tmpdir(), 'egress-'));
/** A service of the machine, and the host behind the proxy. */
const service = createServer((socket) => socket.on('error', () => undefined).end('from the machine'));
beforeAll(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  service.close();
  rmSync(root, { recursive: true });
});
const portOf = () => (service.address() as AddressInfo).port;
const toService = async () => connect(portOf(), '127.0.0.1');

/** Prints the answer to a connection through the proxy of the environment, and to one without it. */
const PROBE = `
const net = require('node:net');
const [, port, ...targets] = process.argv;
const proxy = new URL(process.env.HTTPS_PROXY);
const answerOf = (port, text) => new Promise((done) => {
  let all = '';
  const socket = net.connect(port, '127.0.0.1', () => socket.write(text));
  socket.on('data', (chunk) => { all += chunk; }).on('error', (error) => done(error.code)).on('close', () => done(all));
});
(async () => {
  for (const target of targets) console.log(target, JSON.stringify(await answerOf(proxy.port, 'CONNECT ' + target + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')));
  console.log('direct', await answerOf(port, 'x'));
})();`;

const { sandbox, close } = await (async () => {
  const proxy = await EgressProxy.start(['api.example.org', '.trusted.example'], toService);
  const options = { path: process.env.PATH ?? '', user: null, readable: [], egress: proxy.socket };
  return { sandbox: await chooseSandbox('auto', options), close: () => proxy.close() };
})();
afterAll(close);
const whenConfined = sandbox.isConfined ? test : test.skip;

describe('a program in bubblewrap with a list of hosts', () => {
  whenConfined(
    'reaches these hosts through the proxy, and neither plain addresses nor services of the machine',
    async () => {
      const { tree, home } = await taskFolders(join(root, 'task'), sandbox);
      const box = sandbox.open({ writable: [tree, home], readable: [], network: true });
      const denied = ['evil.example:443', '127.0.0.1:443', 'api.example.org:22', 'untrusted.example:443'];
      const targets = ['api.example.org:443', 'a.trusted.example:443', ...denied];
      const command = [process.execPath, '-e', PROBE, `${portOf()}`, ...targets] as const;
      const limits = { maxBytes: 10_000, timeoutMs: 60_000 };
      const { stdout, stderr } = await box.run({ command, env: { PATH: '/usr/bin:/bin' }, cwd: tree }, limits);
      await box.end();
      expect(`${stdout}${stderr}`.trim().split('\n')).toEqual([
        ...targets.slice(0, 2).map((target) => expect.stringMatching(`${target} .*200.*from the machine`)),
        ...denied.map((target) => `${target} "HTTP/1.1 403 Forbidden\\r\\n\\r\\n"`),
        'direct ECONNREFUSED',
      ]);
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

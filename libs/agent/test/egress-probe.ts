import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { taskFolders } from '../src/git/tree-folders.ts';
import { chooseSandbox, type SandboxChoice } from '../src/sandbox/choose-sandbox.ts';
import { EgressProxy } from '../src/sandbox/egress.ts';
import { place } from './agent-bench.ts';

/** Prints the answers to connections through the proxy of the environment, and to one without it. */
const PROBE = `
const net = require('node:net');
const [, port, ...targets] = process.argv;
const proxy = new URL(process.env.HTTPS_PROXY);
const answerOf = (port, text) => new Promise((done) => {
  let all = '';
  const socket = net.connect(port, proxy.hostname, () => socket.write(text));
  socket.on('data', (chunk) => { all += chunk; }).on('error', (error) => done(error.code)).on('close', () => done(all));
});
(async () => {
  for (const target of targets) console.log(target, JSON.stringify(await answerOf(proxy.port, 'CONNECT ' + target + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')));
  console.log('direct', await answerOf(port, 'x'));
})();`;

/**
 * Connects from a box with a list of hosts, behind which is a service of this machine: to targets through the proxy, and to
 * the service directly. @returns a line for each connection.
 */
export async function connectionsFrom(choice: SandboxChoice, targets: readonly string[]): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'egress-'));
  const service = createServer((socket) => socket.on('error', () => undefined).end('from the machine'));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  const { port } = service.address() as AddressInfo;
  const proxy = await EgressProxy.start(['api.example.org', '.trusted.example'], async () =>
    connect(port, '127.0.0.1'),
  );
  try {
    const sandbox = await chooseSandbox(choice, { ...place, egress: proxy.socket });
    const { tree, home } = await taskFolders(join(root, 'task'), sandbox);
    const box = sandbox.open({ writable: [tree, home], readable: [], network: true });
    const command = [process.execPath, '-e', PROBE, `${port}`, ...targets] as const;
    const limits = { maxBytes: 10_000, timeoutMs: 120_000 };
    const { stdout, stderr } = await box.run({ command, env: { PATH: '/usr/bin:/bin' }, cwd: tree }, limits);
    await box.end();
    return `${stdout}${stderr}`.trim().split('\n');
  } finally {
    proxy.close();
    service.close();
    rmSync(root, { recursive: true });
  }
}

const ALLOWED = ['api.example.org:443', 'a.trusted.example:443'];
const DENIED = ['evil.example:443', '127.0.0.1:443', 'api.example.org:22', 'untrusted.example:443'];
export const TARGETS = [...ALLOWED, ...DENIED];

/** Lines that a confined program prints of the targets. */
export const SEEN = [
  ...ALLOWED.map((target) => new RegExp(`${target} .*200.*from the machine`)),
  ...DENIED.map((target) => new RegExp(`^${target} "HTTP/1.1 403 Forbidden.*"$`)),
  /^direct ECONNREFUSED$/,
];

import { lookup } from 'node:dns/promises';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { BlockList, connect, isIP, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { TaskProgram } from '@pipeline/worker';

/** Connects to a host on port 443. */
export type Connect = (host: string) => Promise<Duplex>;

const TLS = 443;
const MAX_TUNNELS = 500;

/** Addresses of this machine and of the metadata of clouds: a name on the list must not lead there. */
const OWN = new BlockList();
OWN.addSubnet('0.0.0.0', 8);
OWN.addSubnet('127.0.0.0', 8);
OWN.addSubnet('169.254.0.0', 16);
OWN.addAddress('::', 'ipv6');
OWN.addAddress('::1', 'ipv6');
OWN.addSubnet('fe80::', 10, 'ipv6');

/** Reads the hosts that agents may connect to: one per line; a name that begins with a dot includes its subdomains. */
export function readEgress(path: string): string[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => (line.split('#')[0] ?? '').trim().toLowerCase());
  const hosts = lines.filter((line) => line !== '');
  const wrong = hosts.find((host) => isIP(host) !== 0 || !/^\.?[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(host));
  if (wrong !== undefined) throw new Error(`${path}: ${wrong} is no host name`);
  return hosts;
}

/** Returns the way to hosts: through the proxy of the machine, where its environment names one. */
export function connectFrom(env: Readonly<Record<string, string>>): Connect {
  const proxy = env.HTTPS_PROXY ?? env.https_proxy ?? '';
  return proxy === '' ? connectDirectly : (host) => connectThrough(new URL(proxy), host);
}

async function connectDirectly(host: string): Promise<Duplex> {
  const found = await lookup(host, { all: true });
  const outside = found.find(({ address, family }) => !OWN.check(address, family === 6 ? 'ipv6' : 'ipv4'));
  if (outside === undefined) throw new Error(`${host} has no address outside this machine`);
  return new Promise((resolve, reject) => {
    const socket = connect(TLS, outside.address, () => resolve(socket));
    socket.once('error', reject);
  });
}

function connectThrough({ hostname, port }: URL, host: string): Promise<Duplex> {
  const options = { host: hostname, port: port || 80, method: 'CONNECT', path: `${host}:${TLS}` };
  return new Promise((resolve, reject) => {
    const asked = request(options).once('error', reject);
    asked.once('connect', ({ statusCode }: IncomingMessage, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(new Error(`the proxy answered ${statusCode}`));
    });
    asked.end();
  });
}

/**
 * A proxy on a Unix socket for programs without a network: it makes TLS connections to listed hosts, by their names. A box
 * contains nothing of it but the socket.
 */
export class EgressProxy {
  /** Path of the socket. */
  readonly socket: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #hosts: readonly string[];
  readonly #connect: Connect;

  private constructor(hosts: readonly string[], connectTo: Connect) {
    this.#hosts = hosts;
    this.#connect = connectTo;
    this.#folder = mkdtempSync(join(tmpdir(), 'pipeline-egress-'));
    this.socket = join(this.#folder, 'socket');
    this.#server = createServer((_, response) => response.writeHead(403).end());
    this.#server.maxConnections = MAX_TUNNELS;
    this.#server.on('connect', ({ url = '' }, client: Duplex) => void this.#tunnel(url, client));
  }

  /** Starts a proxy; the process may end while it listens. */
  static async start(hosts: readonly string[], connectTo: Connect): Promise<EgressProxy> {
    const proxy = new EgressProxy(hosts, connectTo);
    await new Promise<void>((resolve) => proxy.#server.listen(proxy.socket, resolve));
    // Others cannot enter its folder; the user of a box reaches the socket there.
    chmodSync(proxy.socket, 0o666);
    proxy.#server.unref();
    process.once('exit', () => rmSync(proxy.#folder, { recursive: true, force: true }));
    return proxy;
  }

  /** Ends it. */
  close(): void {
    this.#server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #tunnel(target: string, client: Duplex): Promise<void> {
    client.on('error', () => undefined);
    const host = this.#allowed(target);
    if (host === null) return void client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    try {
      const server = await this.#connect(host);
      server.on('error', () => client.destroy());
      client.on('close', () => server.destroy());
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(server).pipe(client);
    } catch {
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    }
  }

  #allowed(target: string): string | null {
    const [, host = ''] = /^([a-z0-9.-]+):443$/i.exec(target) ?? [];
    const name = host.toLowerCase();
    const isListed = this.#hosts.some((each) => (each.startsWith('.') ? `.${name}`.endsWith(each) : each === name));
    return isListed && isIP(name) === 0 ? name : null;
  }
}

const PORT = 3128;

/** Returns the variables by which programs use the forwarder at an address. */
export const proxyEnv = (address: string): Record<string, string> => ({
  ...Object.fromEntries(
    ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].map((name) => [name, `http://${address}:${PORT}`]),
  ),
  NO_PROXY: 'localhost,127.0.0.1',
  no_proxy: 'localhost,127.0.0.1',
  NODE_USE_ENV_PROXY: '1',
});

/** Forwards a port of the loopback interface of a box to the socket of the proxy, and runs the program beside it. */
const FORWARDER = `
const { connect, createServer } = require('node:net');
const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const [, socket, program, ...args] = process.argv;
createServer((client) => {
  const proxy = connect(socket);
  for (const [one, other] of [[client, proxy], [proxy, client]]) one.on('error', () => other.destroy()).pipe(other);
}).listen(${PORT}, '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => { console.error(error.message); process.exit(127); });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);`;

/** Returns a program with the forwarder to the socket of the proxy. */
export const forwarded = (socket: string, { command, env, cwd }: TaskProgram): TaskProgram => ({
  command: [process.execPath, '-e', FORWARDER, socket, ...command],
  env: { ...env, ...proxyEnv('127.0.0.1') },
  cwd,
});

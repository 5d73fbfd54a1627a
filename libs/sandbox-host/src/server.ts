import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { withoutTrailing } from '@pipeline/domain';
import { makePrivateFile, makePrivateFolder } from '@pipeline/runtime';
import { createApp } from './app.ts';
import { addApp, type NewApp } from './auth/apps.ts';
import { settleMerges } from './changes/merge-record.ts';
import { Git } from './git/git.ts';
import { createLock } from './git/lock.ts';
import { type Fault, Faults } from './http/faults.ts';
import { RequestLog } from './http/request-log.ts';
import { addHook, addRepo, addUser, type NewHook, type NewRepo, type NewUser } from './repos/admin.ts';
import { syncPulls } from './repos/sync-pulls.ts';
import type { Sandbox } from './state/context.ts';
import { Deliveries, type SandboxLog } from './state/deliveries.ts';
import { GLOBAL, State } from './state/state.ts';

export interface SandboxOptions {
  /** Holds everything; a second start on it goes on with the same data. */
  dataDir: string;
  /** 0 = any free port, the default. */
  port?: number;
  /** 127.0.0.1 unless told. */
  host?: string;
  /** Root of the links in answers, where it differs from the address that is listened on. */
  publicUrl?: string;
  users?: NewUser[];
  repos?: NewRepo[];
  apps?: NewApp[];
  webhooks?: NewHook[];
  /** false: webhooks wait for `flushWebhooks()`. */
  autoDeliver?: boolean;
  /** Pauses before a webhook's further attempts, in ms. */
  retryDelaysMs?: number[];
  rateLimitPerHour?: number;
  /** Needed as bearer token by the admin API; without it the admin API is open. */
  adminToken?: string;
  now?: () => Date;
  fetch?: typeof fetch;
  log?: SandboxLog;
  /** Where `git` is looked for. */
  searchPath?: string;
}

/** A running sandbox host. */
export interface SandboxHost {
  /** Base address of the API, of `<url>/<owner>/<name>.git` and of the pages. */
  url: string;
  addRepo(repo: NewRepo): Promise<void>;
  addUser(user: NewUser): void;
  addWebhook(hook: NewHook): void;
  failNext(fault: Fault): void;
  requests: RequestLog;
  flushWebhooks(): Promise<void>;
  /** Ends every connection and settles when the data is closed. */
  stop(): Promise<void>;
}

const SPARE_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What is in the data folder of a sandbox. */
const OWN = /^(git|gitconfig|sandbox\.db.*)$/;

/**
 * Starts the sandbox host: the part of GitHub's REST API that the pipeline uses, with a real git repository per repo.
 * @throws Error when the port is taken or another process works on the data directory.
 */
export async function startSandbox(options: SandboxOptions): Promise<SandboxHost> {
  const { now = () => new Date(), log = { info() {}, warn() {} } } = options;
  makePrivateFolder(options.dataDir, (name) => OWN.test(name));
  const file = path.join(options.dataDir, 'sandbox.db');
  makePrivateFile(file);
  const state = new State(file);
  const { autoDeliver = true, retryDelaysMs = [500, 2000, 5000], fetch: send = fetch } = options;
  const deliveries = new Deliveries({ state, fetch: send, now, log, autoDeliver, retryDelaysMs });
  const server = createServer();
  const sandbox: Sandbox = {
    state,
    git: new Git(options.dataDir, options.searchPath ?? SPARE_PATH),
    now,
    url: () => (options.publicUrl === undefined ? addressOf(server) : withoutTrailing(options.publicUrl, '/')),
    deliveries,
    log,
    rateLimitPerHour: options.rateLimitPerHour ?? 1_000_000,
    lock: createLock(),
  };
  try {
    await listen(server, options);
    await recover(sandbox);
    await seed(sandbox, options);
  } catch (error) {
    server.close();
    state.close();
    throw error;
  }
  const faults = new Faults();
  const requests = new RequestLog(now);
  server.on('request', createApp(sandbox, { faults, requests, adminToken: options.adminToken ?? null }));
  deliveries.kick();
  return {
    url: sandbox.url(),
    addRepo: async (repo) => void (await addRepo(sandbox, repo)),
    addUser: (user) => void addUser(sandbox, user),
    addWebhook: (hook) => void addHook(sandbox, hook),
    failNext: (fault) => faults.add(fault),
    requests,
    flushWebhooks: () => deliveries.flush(),
    stop: () => stop(sandbox, server),
  };
}

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: SandboxOptions): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
}

function addressOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Settles what a kill may have left between git and the records. */
async function recover(sandbox: Sandbox): Promise<void> {
  await settleMerges(sandbox);
  for (const repo of sandbox.state.list('repo', GLOBAL)) await syncPulls(sandbox, repo, repo.owner);
}

async function seed(
  sandbox: Sandbox,
  { users = [], repos = [], apps = [], webhooks = [] }: SandboxOptions,
): Promise<void> {
  for (const user of users) addUser(sandbox, user);
  for (const repo of repos) await addRepo(sandbox, repo);
  for (const app of apps) addApp(sandbox, app);
  for (const hook of webhooks) addHook(sandbox, hook);
}

async function stop({ state, deliveries }: Sandbox, server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  // Webhooks first: one may be waiting for an answer that comes over our own connections.
  await deliveries.stop();
  server.closeAllConnections();
  await closed;
  state.close();
}

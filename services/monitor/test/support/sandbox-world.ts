import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HostEvent } from '@pipeline/domain';
import { silentLogger } from '@pipeline/runtime';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { Notifications } from '@pipeline/store';
import { closedWithFile } from '@pipeline/testing/closing';
import { parseWebhook } from '@pipeline/vcs';
import { type ConnectedHost, connectHosts } from '../../src/hosts/hosts.ts';
import { WriteBudget } from '../../src/hosts/write-budget.ts';

export const BOT = { login: 'pipeline-bot', token: 'bot-token-1', type: 'Bot' as const };
export const ANNA = { login: 'anna', token: 'anna-token-1', type: 'User' as const };

/** May read the repos and comment, but not write. */
export const EVE = { login: 'eve', token: 'eve-token-1', type: 'User' as const };

export interface SentWebhook {
  id: string;
  event: string;
  events: HostEvent[];
}

export interface World {
  sandbox: SandboxHost;
  host: ConnectedHost;
  /** Webhooks that the sandbox has sent, parsed; they go out at `sandbox.flushWebhooks()`. */
  webhooks: SentWebhook[];
  /** A call of the API, by default as Anna. */
  api<T>(method: string, path: string, body?: unknown, caller?: { token: string }): Promise<T>;
  stop(): Promise<void>;
}

/** Hosts of one test file have different ids, as parts of one real host have. */
let hosts = 0;

/** A sandbox host with repos that the bot may write to. @param identity of the pipeline. */
export async function makeWorld(slugs: string[], now = () => new Date(), identity = BOT.token): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'monitor-sandbox-'));
  const webhooks: SentWebhook[] = [];
  hosts += 1;
  const sandbox = await startSandbox({
    dataDir,
    users: [BOT, ANNA, EVE],
    repos: slugs.map((slug) => ({ slug, collaborators: { [BOT.login]: 'write', [ANNA.login]: 'write' } })),
    webhooks: [{ url: 'http://127.0.0.1:9/webhooks/github', secret: 'hook-secret' }],
    autoDeliver: false,
    firstId: hosts * 100_000 + 1,
    retryDelaysMs: [],
    fetch: async (_url, init) => {
      const headers = new Headers(init?.headers);
      const event = headers.get('x-github-event') ?? '';
      const events = parseWebhook(event, JSON.parse(String(init?.body)));
      if (events !== 'ignored') webhooks.push({ id: headers.get('x-github-delivery') ?? '', event, events });
      return new Response(null, { status: 202 });
    },
  });
  const [host] = connectHosts({
    access: { sandbox: { apiUrl: sandbox.url, token: identity } },
    budget: new WriteBudget(() => ({ perMinute: 80, perHour: 500 }), now),
    userAgent: 'test',
    log: silentLogger,
    now,
  });
  if (!host) throw new Error('no host');
  return {
    sandbox,
    host,
    webhooks,
    async api(method, path, body, { token } = ANNA) {
      const response = await fetch(sandbox.url + path, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as never;
    },
    stop: closedWithFile(async () => {
      await sandbox.stop();
      rmSync(dataDir, { recursive: true, force: true });
    }),
  };
}

/** Opens an issue as Anna. @returns its number. */
export async function openIssue(world: World, slug: string, labels: string[] = ['svc:enqueue']): Promise<number> {
  const { number } = await world.api<{ number: number }>('POST', `/repos/${slug}/issues`, { title: 'Please', labels });
  return number;
}

export const commentsOf = async (world: World, slug: string, number: number): Promise<string[]> =>
  (await world.api<{ body: string }[]>('GET', `/repos/${slug}/issues/${number}/comments`)).map(({ body }) => body);

export const labelsOf = async (world: World, slug: string, number: number): Promise<string[]> =>
  (await world.api<{ labels: { name: string }[] }>('GET', `/repos/${slug}/issues/${number}`)).labels
    .map(({ name }) => name)
    .sort();

/** Connected notifications. */
export async function connectedDoorbell(directUrl: string, clock?: () => number): Promise<Notifications> {
  const notifications = new Notifications({
    directUrl,
    applicationName: 'test:notifications',
    log: silentLogger,
    clock,
  });
  notifications.close = closedWithFile(notifications.close.bind(notifications));
  notifications.start();
  await new Promise<void>((resolve) => {
    const off = notifications.on('svc_cache', () => {
      off();
      resolve();
    });
  });
  return notifications;
}

import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type SandboxHost, type SandboxOptions, startSandbox } from '@pipeline/sandbox-host';
import { PEOPLE, type Person } from '@pipeline/testing/host-people';
import { gitEnv } from './git-env.ts';
import type { Push } from './worker.ts';

const run = promisify(execFile);
const NAMES = Object.keys(PEOPLE) as Person[];
export const SLUG = 'acme/replicas';
export const SECRET = 'hook-secret';
export const BOT = { login: 'pipeline-bot', token: 'bot-token-1', type: 'Bot' as const };
/** Owner of the repo. */
const OWNER = 'acme';
const person = (login: Person | typeof OWNER) => ({ login, token: `${login}-token-1`, type: 'User' as const });

export interface Host {
  sandbox: SandboxHost;
  /** The replicas that webhooks go to, in turn; until there are any, deliveries are lost. */
  hooks: string[];
  /** A call of the host's API as a user, by default Anna. @throws Error with the status when it is refused. */
  api<T>(method: string, path: string, body?: unknown, who?: Person | typeof OWNER): Promise<T>;
  push: Push;
  /** Runs git in a clone of the repo. @returns its output. */
  git(...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

type NewRepo = NonNullable<SandboxOptions['repos']>[number];

/** Starts a sandbox host whose webhooks go to the replicas of the hosted API in turn. @param settings of its repo. */
export async function startHost(settings: Omit<NewRepo, 'slug' | 'collaborators'> = {}): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'replicas-'));
  const hooks: string[] = [];
  let sent = 0;
  const sandbox = await startSandbox({
    dataDir: join(folder, 'host'),
    users: [BOT, person(OWNER), ...NAMES.map(person)],
    repos: [{ ...settings, slug: SLUG, collaborators: { [BOT.login]: 'write', ...PEOPLE } }],
    webhooks: [{ url: 'http://127.0.0.1:9/webhooks/github', secret: SECRET }],
    retryDelaysMs: [100],
    fetch: async (_url, init) => {
      sent += 1;
      return fetch(`${hooks[sent % hooks.length]}/webhooks/github`, init);
    },
  });
  const clone = join(folder, 'clone');
  const url = `${sandbox.url}/${SLUG}.git`;
  const git = async (...args: string[]) =>
    (await run('git', args, { cwd: folder, env: gitEnv({ PATH: process.env.PATH }, url, BOT.token) })).stdout.trim();
  await git('clone', '-q', url, clone);
  let commits = 0;
  return {
    sandbox,
    hooks,
    async api(method, path, body, who = 'anna') {
      const headers = { authorization: `Bearer ${person(who).token}` };
      const response = await fetch(sandbox.url + path, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
      return (response.status === 204 ? null : await response.json()) as never;
    },
    git: (...args) => git('-C', clone, ...args),
    async push(branch) {
      commits += 1;
      await git('-C', clone, 'checkout', '-q', '-B', branch, 'origin/main');
      await writeFile(join(clone, `file-${commits}.txt`), `${commits}\n`);
      await git('-C', clone, 'add', '.');
      await git('-C', clone, 'commit', '-qm', `Change ${commits}`);
      await git('-C', clone, 'push', '-qf', 'origin', branch);
      return git('-C', clone, 'rev-parse', 'HEAD');
    },
    async stop() {
      await sandbox.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

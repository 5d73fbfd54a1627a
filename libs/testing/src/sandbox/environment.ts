import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ExecuteResult, ProjectionAction, VcsHost } from '@pipeline/domain';
import { type SandboxHost, type SandboxOptions, startSandbox } from '@pipeline/sandbox-host';
import { createGitHubApp, createGitHubHost, type GitHubAppOptions } from '@pipeline/vcs/github';

/** One request of the adapter and the host's answer. */
export interface Exchange {
  method: string;
  url: string;
  body: unknown;
  status: number;
  answer: unknown;
}

const run = promisify(execFile);
export const BOT = { login: 'pipeline-bot', token: 'bot-token-1', type: 'Bot' as const };
export const ANNA = { login: 'anna', token: 'anna-token-1', type: 'User' as const };
export const STRANGER = { login: 'stranger', token: 'stranger-token', type: 'User' as const };
export const REPO = { owner: 'acme', name: 'shop' };

/** Private key of the app that acme has installed. */
export const APP_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const APP = { id: 77, slug: 'pipeline', publicKey: APP_KEY.publicKey, owners: ['acme'] };
/** A CI service with the same key: the only one that may write check runs. */
const CI_APP = {
  id: 78,
  slug: 'ci',
  publicKey: APP_KEY.publicKey,
  owners: ['acme'],
  permissions: { checks: 'write', statuses: 'write' } as const,
};

/** A sandbox host on a free port with one repo of real history, and the adapter as the bot sees it. */
export interface SandboxEnvironment {
  dir: string;
  sandbox: SandboxHost;
  host: VcsHost;
  exchanges: Exchange[];
  as(token: string, options?: Partial<Parameters<typeof createGitHubHost>[0]>): VcsHost;
  /** Raw call of the API, by default with the bot's token. */
  api(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<{ status: number; data: never; headers: Headers }>;
  execute(action: ProjectionAction, issueNumber?: number, mayHaveHappened?: boolean): Promise<ExecuteResult>;
  git(args: string[], cwd?: string): Promise<string>;
  /** Commits a file on a branch (made from main when new) and pushes it through HTTP, as the bot; returns the commit. */
  push(branch: string, file: string, text: string, to?: { repo: string; token: string }): Promise<string>;
  restart(): Promise<void>;
  end(): Promise<void>;
}

const GIT_ENV = { ...process.env, GIT_TERMINAL_PROMPT: '0' };
const IDENTITY = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'init.defaultBranch=main'];

async function git(args: string[], cwd: string): Promise<string> {
  const { stdout } = await run('git', [...IDENTITY, ...args], { cwd, env: GIT_ENV });
  return stdout.trim();
}

/** Runs the commands of one shell: a large process takes long to start another one. @returns the last line of output. */
async function shell(script: string, args: string[], cwd: string): Promise<string> {
  const own = `set -e; git() { command git ${IDENTITY.join(' ')} "$@"; }`;
  const { stdout } = await run('/bin/sh', ['-c', `${own}\n${script}`, 'sh', ...args], { cwd, env: GIT_ENV });
  return stdout.trim().split('\n').at(-1) ?? '';
}

const SOURCE = `
git init -q source
cd source
echo '# Shop' > README.md
printf 'one\\ntwo\\nthree\\n' > list.txt
git add .
git commit -qm first`;

/** Arguments: address of the repository, folder, branch, file, its text. */
const PUSH = `
git clone -q "$1" "$2"
cd "$2"
git checkout -q "$3" 2> /dev/null || git checkout -qb "$3"
mkdir -p "$(dirname "$4")"
printf %s "$5" > "$4"
git add .
git commit -qm "change $4"
git push -q origin "$3"
git rev-parse HEAD`;

/** Creates a git repository with one commit below `dir`. @returns its folder. */
export async function makeSource(dir: string): Promise<string> {
  await shell(SOURCE, [], dir);
  return path.join(dir, 'source');
}

/** Starts a sandbox host with the repo `acme/shop`, which the bot and Anna may write to. `end()` stops it. */
export async function createSandboxEnvironment(options: Partial<SandboxOptions> = {}): Promise<SandboxEnvironment> {
  const dir = mkdtempSync(path.join(tmpdir(), 'sandbox-'));
  const source = await makeSource(dir);
  const settings: SandboxOptions = {
    dataDir: path.join(dir, 'data'),
    users: [BOT, ANNA, STRANGER],
    repos: [{ slug: 'acme/shop', source, collaborators: { [BOT.login]: 'write', anna: 'write' } }],
    apps: [APP, CI_APP],
    retryDelaysMs: [],
    ...options,
  };
  let sandbox = await startSandbox(settings);
  const exchanges: Exchange[] = [];
  const as: SandboxEnvironment['as'] = (token, extra = {}) =>
    createGitHubHost({
      baseUrl: sandbox.url,
      token,
      clientType: 'sandbox',
      now: () => new Date(),
      userAgent: 'test',
      fetch: recordingFetch(exchanges),
      ...extra,
    });
  const environment: SandboxEnvironment = {
    dir,
    sandbox,
    host: as(BOT.token),
    exchanges,
    as,
    async api(method, at, body, token = BOT.token) {
      const response = await fetch(`${sandbox.url}${at}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, data: (text ? JSON.parse(text) : null) as never, headers: response.headers };
    },
    execute: (action, issueNumber = 1, mayHaveHappened = false) =>
      environment.host.execute(REPO, issueNumber, action, { mayHaveHappened }),
    git: (args, cwd = dir) => git(args, cwd),
    async push(branch, file, text, { repo, token } = { repo: 'acme/shop', token: BOT.token }) {
      const work = mkdtempSync(path.join(dir, 'work-'));
      const url = `${sandbox.url.replace('//', `//x:${token}@`)}/${repo}.git`;
      return shell(PUSH, [url, work, branch, file, text], dir);
    },
    async restart() {
      await sandbox.stop();
      sandbox = await startSandbox(settings);
      Object.assign(environment, { sandbox, host: as(BOT.token) });
    },
    async end() {
      await sandbox.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return environment;
}

/** Opens an issue as Anna and returns its number. */
export async function openIssue(environment: SandboxEnvironment, title = 'An issue', body = 'Please'): Promise<number> {
  const { data } = await environment.api('POST', '/repos/acme/shop/issues', { title, body }, ANNA.token);
  return (data as { number: number }).number;
}

/** The app that acme has installed, as the issuer of tokens. */
export const shopApp = ({ sandbox, exchanges }: SandboxEnvironment, more: Partial<GitHubAppOptions> = {}) =>
  createGitHubApp({
    baseUrl: sandbox.url,
    appId: '77',
    privateKey: APP_KEY.privateKey,
    clientType: 'sandbox',
    userAgent: 'test',
    fetch: recordingFetch(exchanges),
    now: () => new Date(),
    ...more,
  });

/** A token of the CI service for `acme/shop`. */
export async function ciToken(environment: SandboxEnvironment, appId = '78'): Promise<string> {
  const ci = shopApp(environment, { appId });
  const permissions = { checks: 'write', statuses: 'write' } as never;
  return (await ci.accessTo({ repo: REPO, installationId: null, permissions })).token;
}

/** Returns a `fetch` that appends every exchange to the list. */
export function recordingFetch(exchanges: Exchange[], send: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const text = await response.clone().text();
    // Logs are plain text.
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    exchanges.push({
      method: init?.method ?? 'GET',
      url: String(input),
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
      status: response.status,
      answer: isJson && text !== '' ? JSON.parse(text) : undefined,
    });
    return response;
  };
}

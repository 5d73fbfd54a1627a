import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { parseEnv } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type SandboxHost, startSandbox } from '@pipeline/sandbox-host';
import { testDatabase } from '@pipeline/testing';
import { type OpenedPage, openPage, submitForm } from '@pipeline/testing/sandbox';
import { commandLine } from '../src/command-line.ts';
import { connectHost } from '../src/hosts.ts';
import { cliOn } from './cli.ts';

const TOKEN = 'acme-token-1';
const REPO = { owner: 'acme', name: 'shop' };
const database = testDatabase();

let sandbox: SandboxHost;
let dir: string;
let file: string;
const dataDir = mkdtempSync(join(tmpdir(), 'init-sandbox-'));
beforeAll(async () => {
  sandbox = await startSandbox({
    dataDir,
    users: [{ login: 'acme', token: TOKEN }],
    repos: [
      { slug: 'acme/shop', private: true },
      { slug: 'acme/till', private: true },
    ],
  });
});
afterAll(async () => {
  await sandbox.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'init-'));
  file = join(dir, 'app.env');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** A command that waits for the browser. */
interface Waiting {
  /** Address that it printed; null when it ended without one. */
  url: string | null;
  ended: Promise<Ended>;
}

async function start(args: string[], { env = {}, isTTY = false } = {}): Promise<Waiting> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const stdin = Object.assign(Readable.from([]), { isTTY });
  const saidOut = text(stdout);
  let said = '';
  let found: (url: string | null) => void = () => undefined;
  const url = new Promise<string | null>((resolve) => {
    found = resolve;
  });
  stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
    const address = /http:\/\/127\.0\.0\.1:\d+\/[\w-]{22}/.exec(said)?.[0];
    if (address !== undefined) found(address);
  });
  const run = async (): Promise<Ended> => {
    const code = await commandLine(['init', '--host', sandbox.url, ...args], env, { stdin, stdout, stderr });
    found(null);
    stdout.end();
    return { code, stdout: await saidOut, stderr: said };
  };
  const ended = run();
  return { url: await url, ended };
}

/** Confirms the registration in place of a person. @returns the redirect of the host to the command. */
async function confirm(url: string | null, name: string): Promise<string> {
  const onHost = await submitForm(await openPage(url ?? ''));
  const { location, text: shown } = await submitForm(onHost, { name, token: TOKEN });
  if (location === null) throw new Error(shown);
  return location;
}

async function install(page: string, repositories: string): Promise<OpenedPage> {
  return submitForm(await openPage(page), { repositories, token: TOKEN });
}

async function register(args: string[], name: string): Promise<Ended & { back: OpenedPage }> {
  const { url, ended } = await start(['--no-open', ...args]);
  const back = await openPage(await confirm(url, name));
  return { ...(await ended), back };
}

describe('init', () => {
  test('registers an app whose variables give access to the repositories that it is installed on', async () => {
    const { code, stdout, back } = await register(['--file', file], 'Journey');
    expect(code).toBe(0);
    const page = `${sandbox.url}/apps/journey/installations/new`;
    expect([back.status, back.location]).toEqual([303, page]);
    expect(stdout).toContain(`Install the app on your repositories: ${page}`);
    expect(stdout).not.toContain('PRIVATE KEY');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dir)).toEqual(['app.env']);

    const env = parseEnv(readFileSync(file, 'utf8'));
    expect(Object.keys(env).sort()).toEqual(['GITHUB_API_URL', 'GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY']);
    await install(page, 'shop');
    const host = await connectHost(env, 'github');
    expect(await host?.login()).toBe('journey[bot]');
    expect(await host?.getRepo(REPO)).toMatchObject({ name: 'shop', private: true });
    expect(await host?.getRepo({ owner: 'acme', name: 'till' })).toBeNull();
    const cli = cliOn(() => database.url, env as Record<string, string>);
    expect(await cli.json(['repo', 'add', 'acme/shop', '--without-review-gate'])).toMatchObject({
      repo: 'acme/shop',
      host: 'github',
    });
  });

  test('stores a file that a shell reads with the same values', async () => {
    await register(['--file', file], 'Shell');
    const script = 'set -a; . "$1"; printf %s "$GITHUB_APP_PRIVATE_KEY"';
    const key = execFileSync('sh', ['-c', script, 'sh', file], { encoding: 'utf8', env: {} });
    expect(key).toBe(parseEnv(readFileSync(file, 'utf8')).GITHUB_APP_PRIVATE_KEY);
    expect(key).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\\n/);
  });

  test('stores the webhook secret when a webhook is given, for an app of the organisation', async () => {
    const hook = 'http://127.0.0.1:1/webhooks/github';
    const args = ['--file', file, '--webhook-url', hook, '--org', 'acme', '--json'];
    const { stdout } = await register(args, 'Hooked');
    expect(JSON.parse(stdout)).toMatchObject({ slug: 'hooked', owner: 'acme', file });
    expect(parseEnv(readFileSync(file, 'utf8')).GITHUB_WEBHOOK_SECRET).toMatch(/^[0-9a-f]{40}$/);
    expect(readFileSync(file, 'utf8')).toContain(`${sandbox.url}/organizations/acme/settings/apps/hooked`);
  });

  test('prints the variables and nothing else on standard output with --print', async () => {
    const { code, stdout, stderr } = await register(['--print'], 'Printed');
    expect(code).toBe(0);
    const env = parseEnv(stdout);
    expect((await connectHost(env, 'github')) && env.GITHUB_APP_ID).toMatch(/^\d+$/);
    expect(stdout.split('\n').filter((line) => !/^(#|GITHUB_\w+='|$)/.test(line))).toEqual([]);
    expect(stderr).toContain('/apps/printed/installations/new');
    expect(readdirSync(dir)).toEqual([]);
  });

  test('opens the page in a browser when a person runs it', async () => {
    const opened = join(dir, 'opened');
    execFileSync('mkfifo', [opened]);
    writeFileSync(join(dir, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${opened}\n`);
    chmodSync(join(dir, 'xdg-open'), 0o755);
    const { url, ended } = await start(['--file', file], { env: { PATH: `${dir}:/bin` }, isTTY: true });
    expect(await readFile(opened, 'utf8')).toBe(url);
    await openPage(await confirm(url, 'Opened'));
    expect((await ended).code).toBe(0);
  });
});

describe('init waits for the right request', () => {
  test('ignores a request with the wrong state, no code, or another host name', async () => {
    const { url, ended } = await start(['--no-open', '--file', file]);
    const right = new URL(await confirm(url, 'Patient'));
    const wrong = [
      ['state', 'another'],
      ['state', ''],
      ['code', ''],
      ['code', '../../user'],
    ] as const;
    for (const [name, value] of wrong) {
      const request = new URL(right);
      request.searchParams.set(name, value);
      expect((await openPage(request.href)).status).toBe(400);
    }
    expect((await openPage(right.origin)).status).toBe(404);
    expect((await openPage(right.href.replace('127.0.0.1', 'localhost'))).status).toBe(403);
    expect((await openPage(right.href, { method: 'POST' })).status).toBe(405);
    expect(existsSync(file)).toBe(false);
    expect((await openPage(right.href)).status).toBe(303);
    const { code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).toContain('notice: a request to the callback was refused: the state is wrong');
  });

  test('init waits until the timeout, and ends with 1', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    const { ended } = await start(['--no-open', '--file', file, '--timeout', '1', '--json']);
    await jest.advanceTimersByTimeAsync(60_000);
    jest.useRealTimers();
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    const [open, error] = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(open).toEqual({ open: expect.stringContaining('http://127.0.0.1:') });
    expect(error.error).toEqual({ code: 'REQUEST_TIMEOUT', message: expect.stringContaining('within 1 minutes') });
  });
});

describe('init fails', () => {
  test('exits with 1 when the host refuses the code', async () => {
    const { url, ended } = await start(['--no-open', '--file', file]);
    const right = new URL(await confirm(url, 'Refused'));
    right.searchParams.set('code', '0'.repeat(40));
    const page = await openPage(right.href);
    expect([page.status, page.text]).toEqual([
      502,
      expect.stringContaining('it was used before, or is older than an hour'),
    ]);
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('refused the code') });
    expect(readdirSync(dir)).toEqual([]);
  });

  test('exits with 69 when the host does not answer', async () => {
    sandbox.failNext({ match: { path: '/app-manifests/' }, status: 503 });
    const { code, stderr } = await register(['--file', file], 'Unanswered');
    expect(code).toBe(69);
    expect(stderr).toContain('did not return the GitHub App');
  });

  test('exits with 1 before anything is registered when the file exists, and replaces it with --force', async () => {
    writeFileSync(file, 'OLD=1\n', { mode: 0o644 });
    const { url, ended } = await start(['--no-open', '--file', file]);
    expect(url).toBeNull();
    expect(await ended).toMatchObject({ code: 1, stderr: `error: ${file} exists; --force replaces it\n` });
    expect(readFileSync(file, 'utf8')).toBe('OLD=1\n');
    await register(['--file', file, '--force'], 'Forced');
    expect(readFileSync(file, 'utf8')).toContain('GITHUB_APP_ID=');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('exits with 1 and writes the variables to another file when the file was created meanwhile', async () => {
    const { url, ended } = await start(['--no-open', '--file', file]);
    const callback = await confirm(url, 'Raced');
    writeFileSync(file, 'OLD=1\n');
    await openPage(callback);
    const { code, stderr } = await ended;
    expect(code).toBe(1);
    const draft = /(\S+\.tmp) contains the variables/.exec(stderr)?.[1] ?? '';
    expect(readFileSync(draft, 'utf8')).toContain('GITHUB_APP_ID=');
    expect(statSync(draft).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe('OLD=1\n');
  });

  test('exits with 1 when the folder of the file does not exist', async () => {
    const { ended } = await start(['--no-open', '--file', join(dir, 'none', 'app.env')]);
    expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be created') });
  });

  test('exits with 78 when the port is in use', async () => {
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
    const { port } = busy.address() as AddressInfo;
    const { ended } = await start(['--no-open', '--file', file, '--port', `${port}`]);
    const { code, stderr } = await ended;
    busy.close();
    expect([code, stderr]).toEqual([78, `error: port ${port} on 127.0.0.1 is in use; set --port to another one\n`]);
  });

  test.each([
    [[], 'standard input is not a terminal: --no-open prints the address and waits'],
    [['--no-open', '--print', '--force'], '--print stores nothing: omit --file and --force'],
    [['--no-open', '--host', 'ftp://github.com'], '--host must be an http or https URL'],
    [['--no-open', '--host', 'http://github.example.org'], '--host must be an https URL'],
    [['--no-open', '--host', 'https://github.example.org/api/v3'], '--host must be a URL without a path'],
    [['--no-open', '--webhook-url', 'example.org'], '--webhook-url must be an http or https URL'],
    [['--no-open', '--org', 'a/b'], '--org must be a login'],
    [['--no-open', '--name', 'x'.repeat(35)], '--name must have 1 to 34 characters, got 35'],
    [['--no-open', '--port', '65536'], '--port must be a whole number from 0 to 65535'],
    [['--no-open', '--timeout', '0'], '--timeout must be a whole number from 1 to 60'],
  ])('exits with 2 when the options are %j', async (args, message) => {
    const { code, stderr } = await (await start(args)).ended;
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

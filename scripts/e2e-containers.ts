/**
 * Builds the images and runs docker-compose.yml for real, as a project of its own on free ports, and removes it again.
 * One line per check; exit code 1 at the first that fails, with the logs. Without an engine: says so and ends with 0.
 *
 *   node scripts/e2e-containers.ts
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { freePort } from './free-port.ts';

const root = join(import.meta.dirname, '..');
const BASE = 'node:24-bookworm-slim';
const SERVICES = ['hosted-api', 'monitor'] as const;
const IMAGES = [...SERVICES, 'migrate'] as const;
const MOST_OVER_BASE_MB = 40;
const STOP_WITHIN_S = 5;
const BUILD_WITHIN_MS = 600_000;
const WITHIN_MS = 120_000;

const ports = { 'hosted-api': await freePort(), monitor: await freePort() };
const settings = {
  PIPELINE_TAG: 'e2e',
  HOSTED_PORT: String(ports['hosted-api']),
  MONITOR_PORT: String(ports.monitor),
  // A file of the checkout must not decide what is tested.
  PIPELINE_CONFIG_FILE: './deploy/pipeline.example.yaml',
};
const base = { hosted: `http://127.0.0.1:${ports['hosted-api']}`, monitor: `http://127.0.0.1:${ports.monitor}` };
const project = `pipeline-e2e-${process.pid}`;
/** Of the operator; generated, as all secrets. */
let password = '';

const engine = spawnSync('docker', ['compose', 'ls'], { encoding: 'utf8', timeout: 20_000 });
if (engine.status !== 0) {
  console.log(`skipped: no engine (${(engine.error?.message ?? engine.stderr).trim().split('\n').at(-1)})`);
} else {
  // However this ends: a signal, a reader that went away, a failure.
  process.on('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  try {
    await everything();
  } catch (error) {
    console.error(`FAILED ${(error as Error).message.slice(0, 4_000)}\n`);
    console.error(compose(['logs', '--no-color', '--tail', '20']).out);
    process.exitCode = 1;
  }
}

async function everything(): Promise<void> {
  check('images build', () => must(compose(['--profile', 'contract', 'build', '--quiet'])));
  check(`images add at most ${MOST_OVER_BASE_MB} MB to their base`, sizes);
  check('everything starts and becomes ready without a setting', () => must(compose(['up', '--detach', '--wait'])));
  check('the operator password is generated', () => {
    password = operatorPassword();
  });
  check('a service reads its own secrets alone', secretsApart);
  await checkAsync('both services answer', answers);
  await checkAsync('operators log in, and nobody else', logins);
  check('the contract tests find nothing', contractTests);
  const token = must(worker(['--name', 'e2e'])).trim();
  const first = await checkAsync('a worker registers with a token made by the command', () => register(token));
  check('processes are confined', confined);
  check('services log in to the database with data rights alone', databaseRights);
  check('the command for operators works in both', administration);
  check('logs of both lie in the volume', logFiles);
  check('a wrong DATABASE_URL is reported', wrongAddresses);
  check(`services stop within ${STOP_WITHIN_S} s, with 0`, stop);
  check('everything starts again', () => must(compose(['up', '--detach', '--wait'])));
  const second = await checkAsync('the data is still there', () => register(token));
  expect('the same worker', second, first);
  expect('the same operator password', operatorPassword(), password);
  await checkAsync('passwords that the environment sets replace the generated ones', givenPasswords);
  check('everything is removed', () => must(compose(['down', '--volumes', '--timeout', '5'])));
}

/** As the documents say how to read it. @returns the password. */
function operatorPassword(): string {
  const read = must(compose(['exec', '-T', 'monitor', 'cat', '/run/secrets/operator/password']));
  if (!/^[0-9a-f]{48}$/.test(read)) throw new Error(`not a generated password: ${read.length} characters`);
  return read;
}

function secretsApart(): void {
  const filesOf = (service: string) =>
    must(compose(['exec', '-T', service, 'find', '/run/secrets', '/secrets', '-type', 'f']))
      .trim()
      .split('\n')
      .sort();
  const hosted = ['database-password', 'database-url', 'oauth-cookie-keys'];
  expect(
    'hosted-api',
    filesOf('hosted-api'),
    hosted.map((name) => `/run/secrets/hosted-api/${name}`),
  );
  const monitor = ['monitor/database-password', 'monitor/database-url', 'operator/password'];
  expect(
    'monitor',
    filesOf('monitor'),
    monitor.map((name) => `/run/secrets/${name}`),
  );
  for (const name of SERVICES) {
    const id = must(compose(['ps', '--quiet', name])).trim();
    const given = must(docker(['inspect', '--format', '{{json .Config.Env}}', id]));
    if (given.includes(password)) throw new Error(`${name} has the operator password in its environment`);
  }
}

/** A colon and an at sign: URLs of the services escape them. The owner's password is set when the volume is made. */
async function givenPasswords(): Promise<void> {
  const given = { MONITOR_DATABASE_PASSWORD: 'p@ss:w/rd', MONITOR_PASSWORD: 'e2e-operator-password' };
  must(compose(['up', '--detach', '--wait', '--force-recreate'], given));
  password = given.MONITOR_PASSWORD;
  await logins();
}

function sizes(): string {
  const size = (image: string) => Number(must(docker(['image', 'inspect', '--format', '{{.Size}}', image]))) / 1e6;
  const over = IMAGES.map((name) => ({ name, mb: size(`pipeline-${name}:e2e`) - size(BASE) }));
  for (const { name, mb } of over) if (mb > MOST_OVER_BASE_MB) throw new Error(`${name} adds ${mb.toFixed(1)} MB`);
  return over.map(({ name, mb }) => `${name} ${mb.toFixed(1)} MB`).join(', ');
}

async function answers(): Promise<void> {
  for (const url of Object.values(base)) {
    expect(`${url}/health`, (await ask(`${url}/health`)).body.status, 'healthy');
    expect(`${url}/ready`, (await ask(`${url}/ready`)).body.store, 'connected');
    contains((await ask(`${url}/api/openapi.json`)).body.openapi, '3.1.');
  }
  const { body } = await ask(`${base.hosted}/.well-known/oauth-authorization-server`);
  expect('issuer', body.issuer, `http://localhost:${ports['hosted-api']}`);
}

async function logins(): Promise<void> {
  const url = `${base.monitor}/api/dead-letters`;
  const basic = (password: string) => ({ authorization: `Basic ${btoa(`operator:${password}`)}` });
  const logIn = (password: string) =>
    ask(`${base.monitor}/api/auth/login`, { method: 'POST', body: { username: 'operator', password } });
  expect('without credentials', (await ask(url)).status, 401);
  expect('Basic, wrong', (await ask(url, { headers: basic('wrong') })).status, 401);
  expect('Basic', (await ask(url, { headers: basic(password) })).status, 200);
  expect('login, wrong', (await logIn('wrong')).status, 401);
  const { status, cookie } = await logIn(password);
  expect('login', status, 200);
  expect('session', (await ask(url, { headers: { cookie: cookie.split(';')[0] ?? '' } })).status, 200);
}

async function register(token: string): Promise<string> {
  const { status, body } = await ask(`${base.hosted}/api/worker/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: { name: 'e2e', taskTypes: ['analyze'] },
  });
  expect('register', status, 200);
  return String(body.workerId);
}

/** Not root, no capability, nothing to write to but what is given, and no port but on this machine. */
function confined(): void {
  const program = `const { readFileSync, writeFileSync } = require('node:fs');
    const refused = ['/app/x', '/app/cache/x', '/x'].every((f) => { try { writeFileSync(f, ''); } catch { return true; } });
    const caps = /CapEff:\\s+(\\w+)/.exec(readFileSync('/proc/1/status', 'utf8'))[1];
    writeFileSync('/tmp/x', '');
    console.log(JSON.stringify({ uid: process.getuid(), caps: Number('0x' + caps), refused }));`;
  for (const name of SERVICES) {
    const seen = JSON.parse(must(compose(['exec', '-T', name, 'node', '-e', program])));
    expect(name, seen, { uid: 1000, caps: 0, refused: true });
    const inside = name === 'monitor' ? '8090' : '8080';
    expect('published', must(compose(['port', name, inside])).trim(), `127.0.0.1:${ports[name]}`);
  }
}

/** By the sessions that the services hold: no superuser, no owner, no right to create anything. */
function databaseRights(): void {
  const query = `select distinct usename || ' ' || usesuper || ' ' || has_schema_privilege(usename, 'pipeline', 'create')
    from pg_stat_activity join pg_user using (usename) where application_name ~ '^(hosted-api|monitor)(:|$)' order by 1`;
  const psql = ['psql', '-U', 'pipeline', '-d', 'pipeline', '-At', '-c', query];
  const rows = must(compose(['exec', '-T', 'postgres', ...psql]))
    .trim()
    .split('\n');
  expect('sessions', rows, ['pipeline_hosted_api false false', 'pipeline_monitor false false']);
}

/** The command for operators, in the images that run: it reaches the store, and its exit status is passed on. */
function administration(): void {
  for (const name of SERVICES) {
    const pipeline = (...args: string[]) => compose(['exec', '-T', name, 'pipeline', 'admin', ...args, '--json']);
    const [org] = JSON.parse(must(pipeline('org', 'list')));
    expect(`${name}: organisation`, org?.id, 'default');
    expect(`${name}: refusal`, pipeline('org', 'show', 'nobody').status, 1);
  }
}

function contractTests(): string {
  const { status, out, err } = compose(['run', '--rm', '-T', 'contract-tests', '--runs', '300', '--seed', '1']);
  if (status !== 0) throw new Error(`exit status ${status}: ${out}${err}`);
  return out.trim().split('\n').at(-1) ?? '';
}

function logFiles(): void {
  const listed = must(compose(['exec', '-T', 'monitor', 'ls', '/var/log/pipeline']));
  for (const name of SERVICES) contains(listed, `${name}.log`);
}

function wrongAddresses(): void {
  const run = (service: string, url: string) =>
    compose(['run', '--rm', '--no-deps', '-T', '-e', `DATABASE_URL=${url}`, service]);
  for (const service of IMAGES) {
    const wrong = run(service, 'http://nowhere');
    expect(`${service}: status for no postgres address`, wrong.status, 78);
    contains(wrong.err, 'DATABASE_URL: must be a postgres:// ');
    // The services end by themselves, which compose reports; a process that hung would run into the time limit.
    const refused = run(service, 'postgres://pipeline:not-this@postgres:5432/pipeline');
    if (refused.status === 0) throw new Error(`${service} started with a wrong password`);
    contains(refused.out + refused.err, 'password authentication failed');
    if ((refused.out + refused.err).includes('not-this')) throw new Error(`${service} shows the password`);
  }
}

function stop(): string {
  const began = Date.now();
  must(compose(['stop', ...SERVICES]));
  const seconds = (Date.now() - began) / 1000;
  if (seconds > STOP_WITHIN_S) throw new Error(`it took ${seconds.toFixed(1)} s`);
  for (const name of SERVICES) {
    const id = must(compose(['ps', '--all', '--quiet', name])).trim();
    expect(`${name}: exit code`, must(docker(['inspect', '--format', '{{.State.ExitCode}}', id])).trim(), '0');
  }
  must(compose(['down', '--timeout', '30'])); // the volumes stay
  return `${seconds.toFixed(1)} s`;
}

function worker(args: string[]): Result {
  return compose(['run', '--rm', '--no-deps', '-T', 'migrate', 'node', 'bin/worker-token.cjs', ...args]);
}

function remove(): void {
  compose(['down', '--volumes', '--remove-orphans', '--timeout', '5']);
}

interface Result {
  status: number;
  out: string;
  err: string;
}

/** Settings come by the environment; a .env of the checkout is not read. */
function compose(args: string[], env: Record<string, string> = {}): Result {
  return docker(['compose', '--env-file', '/dev/null', '--project-name', project, '--progress', 'quiet', ...args], {
    ...settings,
    ...env,
  });
}

function docker(args: string[], env: Record<string, string> = {}): Result {
  const { status, stdout, stderr, error } = spawnSync('docker', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    timeout: args.includes('build') ? BUILD_WITHIN_MS : WITHIN_MS,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  return { status: status ?? 1, out: stdout ?? '', err: error?.message ?? stderr };
}

/** @returns what the command printed. @throws Error with its complaint. */
function must({ status, out, err }: Result): string {
  if (status !== 0) throw new Error(`exit status ${status}: ${err || out}`);
  return out;
}

interface Question {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

async function ask(url: string, { method = 'GET', headers = {}, body }: Question = {}) {
  const response = await fetch(url, {
    method,
    // Kept open, it would break unseen while a command blocks this thread.
    headers: { connection: 'close', ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body: answer, cookie: response.headers.get('set-cookie') ?? '' };
}

function expect(what: string, found: unknown, wanted: unknown): void {
  if (isDeepStrictEqual(found, wanted)) return;
  throw new Error(`${what}: found ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}`);
}

function contains(text: unknown, part: string): void {
  if (!String(text).includes(part)) throw new Error(`expected ${JSON.stringify(part)} in: ${text}`);
}

function check<T>(what: string, run: () => T): T {
  const began = Date.now();
  return reported(what, began, attempt(what, run));
}

async function checkAsync<T>(what: string, run: () => Promise<T>): Promise<T> {
  const began = Date.now();
  return reported(what, began, await run().catch((error: Error) => failed(what, error)));
}

function attempt<T>(what: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    return failed(what, error as Error);
  }
}

function failed(what: string, error: Error): never {
  throw new Error(`${what}: ${error.message}`);
}

function reported<T>(what: string, began: number, result: T): T {
  const seconds = ((Date.now() - began) / 1000).toFixed(1).padStart(6);
  console.log(
    `ok ${seconds} s  ${what}${typeof result === 'string' && result.length < 100 ? `: ${result.trim()}` : ''}`.replace(
      /: $/,
      '',
    ),
  );
  return result;
}

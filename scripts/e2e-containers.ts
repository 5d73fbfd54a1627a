/**
 * Builds the images and runs docker-compose.yml for real, as a project of its own on free ports, and removes it again.
 * One line per check; exit code 1 at the first that fails, with the logs. Without an engine: prints that and ends with
 * 0.
 *
 *   node scripts/e2e-containers.ts
 */
import { composeProject, docker, must, type Result, runWithEngine } from './containers/docker.ts';
import { check, expectEqual, expectPart } from './containers/report.ts';
import { freePort } from './free-port.ts';

const BASE = 'node:24-bookworm-slim';
const SERVICES = ['hosted-api', 'monitor'] as const;
const IMAGES = [...SERVICES, 'migrate'] as const;
const MOST_OVER_BASE_MB = 40;
const STOP_WITHIN_S = 5;

const ports = { 'hosted-api': await freePort(), monitor: await freePort() };
const settings = {
  PIPELINE_TAG: 'e2e',
  HOSTED_PORT: String(ports['hosted-api']),
  MONITOR_PORT: String(ports.monitor),
  // A file of the checkout must not decide what is tested.
  PIPELINE_CONFIG_FILE: './deploy/pipeline.example.yaml',
};
const base = { hosted: `http://127.0.0.1:${ports['hosted-api']}`, monitor: `http://127.0.0.1:${ports.monitor}` };
const compose = composeProject(`pipeline-e2e-${process.pid}`, settings);
/** Password of the operator; generated, as all secrets. */
let password = '';

await runWithEngine({ everything, remove, logs: () => compose(['logs', '--no-color', '--tail', '20']).out });

async function everything(): Promise<void> {
  await check('images build', () => must(compose(['--profile', 'contract', 'build', '--quiet'])));
  await check(`images add at most ${MOST_OVER_BASE_MB} MB to their base`, sizes);
  await check('everything starts and becomes ready without a setting', () =>
    must(compose(['up', '--detach', '--wait'])),
  );
  await check('the operator password is generated', () => {
    password = operatorPassword();
  });
  await check('a service reads its own secrets alone', secretsApart);
  await check('both services answer', answers);
  await check('operators log in, and no one else', logins);
  await check('the contract tests find nothing', contractTests);
  const token = must(worker(['--name', 'e2e'])).trim();
  const first = await check('a worker registers with a token made by the command', () => register(token));
  await check('processes are confined', confined);
  await check('services log in to the database with data rights alone', databaseRights);
  await check('the command for operators works in both', administration);
  await check('logs of both lie in the volume', logFiles);
  await check('a wrong DATABASE_URL is reported', wrongAddresses);
  await check(`services stop within ${STOP_WITHIN_S} s, with 0`, stop);
  await check('everything starts again', () => must(compose(['up', '--detach', '--wait'])));
  const second = await check('the data is still there', () => register(token));
  expectEqual('the same worker', second, first);
  expectEqual('the same operator password', operatorPassword(), password);
  await check('passwords that the environment sets replace the generated ones', givenPasswords);
  await check('everything is removed', () => must(compose(['down', '--volumes', '--timeout', '5'])));
}

/** Reads the password in the way that the documents describe. @returns the password. */
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
  expectEqual(
    'hosted-api',
    filesOf('hosted-api'),
    hosted.map((name) => `/run/secrets/hosted-api/${name}`),
  );
  const monitor = ['monitor/database-password', 'monitor/database-url', 'operator/password'];
  expectEqual(
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
    expectEqual(`${url}/health`, (await ask(`${url}/health`)).body.status, 'healthy');
    expectEqual(`${url}/ready`, (await ask(`${url}/ready`)).body.store, 'connected');
    expectPart((await ask(`${url}/api/openapi.json`)).body.openapi, '3.1.');
  }
  const { body } = await ask(`${base.hosted}/.well-known/oauth-authorization-server`);
  expectEqual('issuer', body.issuer, `http://localhost:${ports['hosted-api']}`);
}

async function logins(): Promise<void> {
  const url = `${base.monitor}/api/dead-letters`;
  const basic = (password: string) => ({ authorization: `Basic ${btoa(`operator:${password}`)}` });
  const logIn = (password: string) =>
    ask(`${base.monitor}/api/auth/login`, { method: 'POST', body: { username: 'operator', password } });
  expectEqual('without credentials', (await ask(url)).status, 401);
  expectEqual('Basic, wrong', (await ask(url, { headers: basic('wrong') })).status, 401);
  expectEqual('Basic', (await ask(url, { headers: basic(password) })).status, 200);
  expectEqual('login, wrong', (await logIn('wrong')).status, 401);
  const { status, cookie } = await logIn(password);
  expectEqual('login', status, 200);
  expectEqual('session', (await ask(url, { headers: { cookie: cookie.split(';')[0] ?? '' } })).status, 200);
}

async function register(token: string): Promise<string> {
  const { status, body } = await ask(`${base.hosted}/api/worker/register`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: { name: 'e2e', taskTypes: ['analyze'] },
  });
  expectEqual('register', status, 200);
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
    expectEqual(name, seen, { uid: 1000, caps: 0, refused: true });
    const inside = name === 'monitor' ? '8090' : '8080';
    expectEqual('published', must(compose(['port', name, inside])).trim(), `127.0.0.1:${ports[name]}`);
  }
}

/** Checks the rights of the sessions that the services hold: no superuser, no owner, no right to create anything. */
function databaseRights(): void {
  const query = `select distinct usename || ' ' || usesuper || ' ' || has_schema_privilege(usename, 'pipeline', 'create')
    from pg_stat_activity join pg_user using (usename) where application_name ~ '^(hosted-api|monitor)(:|$)' order by 1`;
  const psql = ['psql', '-U', 'pipeline', '-d', 'pipeline', '-At', '-c', query];
  const rows = must(compose(['exec', '-T', 'postgres', ...psql]))
    .trim()
    .split('\n');
  expectEqual('sessions', rows, ['pipeline_hosted_api false false', 'pipeline_monitor false false']);
}

/** The command for operators, in the images that run: it reaches the store, and its exit status is passed on. */
function administration(): void {
  for (const name of SERVICES) {
    const pipeline = (...args: string[]) => compose(['exec', '-T', name, 'pipeline', 'admin', ...args, '--json']);
    const [org] = JSON.parse(must(pipeline('org', 'list')));
    expectEqual(`${name}: organisation`, org?.id, 'default');
    expectEqual(`${name}: refusal`, pipeline('org', 'show', 'nobody').status, 1);
  }
}

function contractTests(): string {
  const { status, out, err } = compose(['run', '--rm', '-T', 'contract-tests', '--runs', '300', '--seed', '1']);
  if (status !== 0) throw new Error(`exit status ${status}: ${out}${err}`);
  return out.trim().split('\n').at(-1) ?? '';
}

function logFiles(): void {
  const listed = must(compose(['exec', '-T', 'monitor', 'ls', '/var/log/pipeline']));
  for (const name of SERVICES) expectPart(listed, `${name}.log`);
}

function wrongAddresses(): void {
  const run = (service: string, url: string) =>
    compose(['run', '--rm', '--no-deps', '-T', '-e', `DATABASE_URL=${url}`, service]);
  for (const service of IMAGES) {
    const wrong = run(service, 'http://nowhere');
    expectEqual(`${service}: status for no postgres address`, wrong.status, 78);
    expectPart(wrong.err, 'DATABASE_URL: must be a postgres:// ');
    // The services end by themselves, which compose reports; a process that hung would run into the time limit.
    const refused = run(service, 'postgres://pipeline:not-this@postgres:5432/pipeline');
    if (refused.status === 0) throw new Error(`${service} started with a wrong password`);
    expectPart(refused.out + refused.err, 'password authentication failed');
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
    expectEqual(`${name}: exit code`, must(docker(['inspect', '--format', '{{.State.ExitCode}}', id])).trim(), '0');
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

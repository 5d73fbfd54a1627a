import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres } from '@pipeline/local-postgres';
import { sleep } from '@pipeline/runtime';
import { type Checks, seconds } from './checks.ts';
import type { E2e } from './journey.ts';
import { processesOf } from './processes.ts';
import { clearUp, type Place, StackProcess } from './stack-process.ts';
import { StoreView } from './store-view.ts';

const run = promisify(execFile);
const READY_AGAIN_WITHIN_MS = 6_000;
const STOP_WITHIN_MS = 10_000;
const TAKEN_IN_WITHIN_MS = 60_000;

/** Stops, starts, ports, and the ways to begin. */
export async function restart({ checks, dataDir, env }: E2e): Promise<void> {
  const place = { dataDir: join(dataDir, 'a'), env };
  try {
    await secondStart(checks, place);
    await takenPort(checks, place);
    await freshStart(checks, place);
    await ownDatabase(checks, { dataDir: join(dataDir, 'b'), env });
  } finally {
    await clearUp(dataDir);
  }
}

async function ends(checks: Checks, stack: StackProcess, place: Place, signal: NodeJS.Signals): Promise<void> {
  const end = await stack.stop(signal);
  const left = processesOf(place.dataDir);
  const isGood = end.code === 0 && end.ms < STOP_WITHIN_MS && left.length === 0;
  checks.that(`${signal} ends everything: ${seconds(end.ms)}`, isGood, { ...end, left });
}

async function secondStart(checks: Checks, place: Place): Promise<void> {
  const first = new StackProcess(place, ['--json', '--issues', '3']);
  const { report, ms } = await first.ready();
  checks.note(`first start: ready after ${seconds(ms)}`);
  const numbers = async () => (await new StoreView(report.database.url).issues()).map(({ number }) => number);
  const before = await whileAtWork(numbers);
  await ends(checks, first, place, 'SIGTERM');
  const second = new StackProcess(place, ['--json', '--issues', '3']);
  const again = await second.ready();
  checks.within('the second start is ready', again.ms, READY_AGAIN_WITHIN_MS);
  checks.equal('with the same addresses and credentials', again.report, report);
  const kept = await numbers();
  checks.that('and the same issues', before.length > 0 && before.every((number) => kept.includes(number)), {
    before,
    kept,
  });
  checks.equal('standard output is one line', second.stdout.trimEnd().split('\n').length, 1);
  await ends(checks, second, place, 'SIGINT');
}

/** The numbers of the issues taken in, as soon as there are any: from then on the fleet is at work. */
async function whileAtWork(numbers: () => Promise<number[]>): Promise<number[]> {
  const deadline = performance.now() + TAKEN_IN_WITHIN_MS;
  let taken = await numbers();
  while (taken.length === 0 && performance.now() < deadline) {
    await sleep(250);
    taken = await numbers();
  }
  return taken;
}

async function takenPort(checks: Checks, place: Place): Promise<void> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = String(typeof address === 'object' ? address?.port : '');
  for (const variable of ['HOSTED_PORT', 'MONITOR_PORT', 'SANDBOX_PORT', 'POSTGRES_PORT']) {
    const stack = new StackProcess(place, ['--json', '--no-demo'], { [variable]: port });
    const { code } = await stack.ended;
    const isTold = stack.stderr.includes(variable) && stack.stderr.includes(port);
    const left = processesOf(place.dataDir);
    checks.that(
      `an error names the variable of a port in use: ${variable}`,
      isTold && code !== 0 && left.length === 0,
      stack.stderr,
    );
  }
  server.close();
}

/** Starts from nothing and checks that the printed commands work. */
async function freshStart(checks: Checks, place: Place): Promise<void> {
  const stack = new StackProcess(place, ['--fresh', '--no-demo']);
  while (!stack.stdout.includes('Ctrl-C')) {
    if (stack.child.exitCode !== null) throw new Error(stack.stderr);
    await sleep(50);
  }
  const commands = stack.stdout.split('\n').flatMap((line) => (/^\s+curl /.test(line) ? [line.trim()] : []));
  checks.equal('--fresh prints four commands to try', commands.length, 4);
  for (const command of commands) {
    const { stdout } = await run('sh', ['-c', `${command} -w ' %{http_code}'`], { maxBuffer: 16 * 1024 * 1024 });
    checks.that(`it works: ${command.slice(0, 60)}…`, / 20[01]$/.test(stdout), stdout.slice(-300));
  }
  const { ports } = await stack.state();
  const monitor = `http://127.0.0.1:${ports?.monitor}/api/dead-letters`;
  const refused = await fetch(monitor, { headers: { authorization: `Basic ${btoa('operator:wrong')}` } });
  checks.equal('another password does not', refused.status, 401);
  await ends(checks, stack, place, 'SIGTERM');
}

async function ownDatabase(checks: Checks, place: Place): Promise<void> {
  const server = await startPostgres({
    dataDir: join(place.dataDir, '..', 'own'),
    port: 0,
    settings: { fsync: 'off' },
  });
  try {
    const stack = new StackProcess(place, ['--json', '--no-demo', '--database-url', server.url]);
    const { report } = await stack.ready();
    checks.equal('--database-url uses that database', report.database.url, server.url);
    const answer = await fetch(`${report.hosted.url}/api/worker/register`, {
      method: 'POST',
      headers: { authorization: `Bearer ${report.hosted.workerToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'by-hand', taskTypes: ['analyze'] }),
    });
    checks.equal('the worker token works there', answer.status, 200);
    await ends(checks, stack, place, 'SIGTERM');
  } finally {
    await server.stop();
  }
}

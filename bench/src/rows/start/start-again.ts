import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@pipeline/local-postgres';
import { withDeadline } from '@pipeline/runtime';
import type { Bench, Fact, Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';

const MAIN = join(import.meta.dirname, '../../../../libs/stack/src/main.ts');
const READY_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 60_000;
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOSTED_PORT: '0', MONITOR_PORT: '0', SANDBOX_PORT: '0' };

/**
 * Goal 23: `npm start` where it has run before: from the spawn of its program, once the install has been looked over, to
 * the line that says that both services are ready, with the issues of the demo in the store. The embedded Postgres alone,
 * on the same data, is printed beside it.
 */
export const startAgainRow: Row = {
  goal: 23,
  title: 'npm start again',
  open: async (bench) => ({ cases: [], facts: async () => [await startAgain(bench)] }),
};

async function startAgain(bench: Bench): Promise<Fact> {
  const dataDir = join(bench.workDir, 'start-again');
  await rm(dataDir, { recursive: true, force: true });
  bench.say(`npm start, the first time: ${(await secondsToReady(bench, dataDir)).toFixed(1)} s`);
  const times: number[] = [];
  const floors: number[] = [];
  for (let round = 0; round < (bench.quick ? 1 : 3); round += 1) {
    times.push(await secondsToReady(bench, dataDir));
    floors.push(await secondsOfPostgres(join(dataDir, 'postgres')));
    bench.say(`npm start again: ${times.at(-1)?.toFixed(1)} s, of which Postgres ${floors.at(-1)?.toFixed(1)} s`);
  }
  const title = `npm start again; Postgres alone ${median(floors).toFixed(1)} s`;
  return { title, value: median(times), unit: 's', bound: { atMost: 6 } };
}

async function secondsOfPostgres(dataDir: string): Promise<number> {
  const began = performance.now();
  const { stop } = await startPostgres({ dataDir, port: 0 });
  const ms = performance.now() - began;
  await stop();
  return ms / 1_000;
}

async function secondsToReady(bench: Bench, dataDir: string): Promise<number> {
  const log = await open(join(bench.workDir, 'start-again.log'), 'a');
  const began = performance.now();
  const args = ['--disable-warning=ExperimentalWarning', MAIN, '--json', '--data-dir', dataDir];
  const child = spawn(process.execPath, args, { env: ENV, stdio: ['ignore', 'pipe', log.fd] });
  bench.stack.add('npm start', () => end(child));
  await log.close();
  await withDeadline(ready(child), READY_WITHIN_MS, 'npm start');
  const ms = performance.now() - began;
  await end(child);
  return ms / 1_000;
}

/** The one line of standard output is printed when everything is ready. */
async function ready(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('npm start ended before it was ready; start-again.log says why');
  });
  ended.catch(() => undefined);
  await Promise.race([ended, child.stdout && once(child.stdout, 'data')]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await withDeadline(ended, STOP_WITHIN_MS, 'the end of npm start');
}

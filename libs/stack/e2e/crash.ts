import { sleep } from '@pipeline/runtime';
import { type Checks, seconds } from './checks.ts';
import { compare } from './compare.ts';
import { breaches } from './invariants.ts';
import { type E2e, untilDone } from './journey.ts';
import { kill, seededRandom, shuffled, stoppedOf, VICTIMS, type Victim } from './kills.ts';
import { processesOf } from './processes.ts';
import { clearUp, StackProcess } from './stack-process.ts';
import { StoreView } from './store-view.ts';

const ISSUES = 12;
const WITHIN_MS = 12 * 60_000;
const RESTARTED_WITHIN_MS = 60_000;
const PAUSE_MS = { least: 1_000, most: 5_000 };
/** The leash of the children: a look each half second, then at most two steps of three. */
const ORPHANS_END_WITHIN_MS = 10_000;
/** Time to wait for orphans to end on a busy machine; those that nothing ends stay permanently. */
const ORPHANS_AWAITED_MS = 40_000;

/** kill -9 of everything, one after the other, at random moments; nothing is lost and nothing happens twice. */
export async function crash(e2e: E2e): Promise<void> {
  const { checks, dataDir, env, seed } = e2e;
  const random = seededRandom(seed);
  checks.note(`seed ${seed}: the same order of kills again with --seed ${seed}`);
  const stack = new StackProcess(e2e, ['--json', '--issues', `${ISSUES}`]);
  try {
    const { report } = await stack.ready();
    const store = new StoreView(report.database.url);
    await killAll(checks, { dataDir, store, random });
    checks.that('everything runs again', await untilAllRun(dataDir), await stoppedOf(dataDir));
    await killTheStack(checks, stack, dataDir);
    const again = new StackProcess(e2e, ['--json', '--issues', `${ISSUES}`]);
    const { report: second, ms } = await again.ready();
    checks.note(`ready again after ${seconds(ms)}`);
    const began = performance.now();
    const after = new StoreView(second.database.url);
    const all = await untilDone(after, ISSUES, WITHIN_MS);
    const open = await after.rows(
      "select issue_number::int number, state, last_error from issues where state <> 'done'",
    );
    checks.that(`all ${ISSUES} issues are done: ${seconds(performance.now() - began)} later`, all, open);
    checks.none('the invariants hold', await breaches(after));
    await compare(checks, { report: second, state: await again.state(), store: after, searchPath: env.PATH ?? '' });
    const end = await again.stop();
    checks.that(`SIGTERM ends it: ${seconds(end.ms)}`, end.code === 0 && end.ms < 10_000, end);
  } finally {
    await clearUp(dataDir);
  }
}

interface Scene {
  dataDir: string;
  store: StoreView;
  random: () => number;
}

async function killAll(checks: Checks, { dataDir, store, random }: Scene): Promise<void> {
  const broken: string[] = [];
  for (const victim of shuffled(VICTIMS, random)) {
    await sleep(PAUSE_MS.least + random() * (PAUSE_MS.most - PAUSE_MS.least));
    const killed = await killOnceThere(victim, dataDir, store);
    checks.that(`killed: ${victim}`, killed, { notThere: victim, stopped: await stoppedOf(dataDir) });
    broken.push(...(await breaches(store).catch(() => [])).map((breach) => `after ${victim}: ${breach}`));
  }
  checks.none('the invariants hold between the kills', broken);
}

/**
 * An earlier kill may have taken the victim away too: a service is away while Postgres is, and then for a pause of the
 * supervisor and its own start.
 * @returns false when it was not back in time.
 */
async function killOnceThere(victim: Victim, dataDir: string, store: StoreView): Promise<boolean> {
  const deadline = performance.now() + RESTARTED_WITHIN_MS;
  while (!(await kill(victim, dataDir, store))) {
    if (performance.now() > deadline) return false;
    await sleep(100);
  }
  return true;
}

/**
 * Waits until each child has been started again: Postgres is a daemon, so one whose child was killed at the same moment
 * as the stack has no process left to end it before the next start.
 * @returns false when that took too long.
 */
async function untilAllRun(dataDir: string): Promise<boolean> {
  const deadline = performance.now() + RESTARTED_WITHIN_MS;
  while ((await stoppedOf(dataDir)).length > 0) {
    if (performance.now() > deadline) return false;
    await sleep(100);
  }
  return true;
}

/** The supervisor itself: whatever it started notices and ends. */
async function killTheStack(checks: Checks, stack: StackProcess, dataDir: string): Promise<void> {
  await stack.stop('SIGKILL');
  const began = performance.now();
  let left = processesOf(dataDir);
  while (left.length > 0 && performance.now() - began < ORPHANS_AWAITED_MS) {
    await sleep(100);
    left = processesOf(dataDir);
  }
  const tookMs = performance.now() - began;
  checks.that(`killed: the stack itself; no process is left after ${seconds(tookMs)}`, left.length === 0, left);
  checks.within('whatever the stack started ends', tookMs, ORPHANS_END_WITHIN_MS);
}

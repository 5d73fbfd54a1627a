import { sleep } from '@pipeline/runtime';
import type { StackReport } from '../src/start/report.ts';
import { type Checks, seconds } from './checks.ts';
import { compare } from './compare.ts';
import { withClone } from './host-clone.ts';
import { breaches } from './invariants.ts';
import { clearUp, type Place, StackProcess } from './stack-process.ts';
import { StoreView } from './store-view.ts';

const ISSUES = 30;
/** Each task starts an agent of its own and clones its repo: about 10 s of CPU an issue. */
const WITHIN_MS = 20 * 60_000;
const FIRST_WITHIN_MS = 60_000;
const EVERY_MS = 500;

export interface E2e extends Place {
  checks: Checks;
  seed: number;
  /**
   * Number of issues of a history that is smaller than the full one, or of a measurement; null = all of it, or the
   * default.
   */
  issues: number | null;
  /** Pipeline events of the history of `retention`; null = its default. */
  events: number | null;
  /** Length of the soak, or of the load before the retention works; null = the default. */
  minutes: number | null;
  /** Multiple of the usual rates of the load; null = 1. */
  rate: number | null;
  /** Commit or tag of the version before an upgrade or in a comparison; null = the default. */
  from: string | null;
}

/** Thirty demo issues travel to done; afterwards host and store agree, item by item. */
export async function journey(e2e: E2e): Promise<void> {
  const { checks, dataDir, env } = e2e;
  const stack = new StackProcess(e2e, ['--json', '--issues', `${ISSUES}`]);
  try {
    const { report, ms } = await stack.ready();
    checks.note(`ready after ${seconds(ms)}`);
    const store = new StoreView(report.database.url);
    const first = await untilDone(store, 1, WITHIN_MS);
    const firstMs = performance.now() - stack.startedAt;
    checks.that('an issue is done', first);
    checks.within('the first issue is done', firstMs, FIRST_WITHIN_MS);
    const all = await untilDone(store, ISSUES, WITHIN_MS);
    checks.that(
      `all ${ISSUES} issues are done: after ${seconds(performance.now() - stack.startedAt)}`,
      all,
      await openOf(store),
    );
    const visits = await store.visits();
    for (const state of ['changes-requested', 'failure-blocked', 'needs-clarification', 'human-review-ready'])
      checks.that(`some issues went through ${state}: ${visits[state] ?? 0}`, (visits[state] ?? 0) > 0);
    checks.none('the invariants hold', await breaches(store));
    const searchPath = env.PATH ?? '';
    await compare(checks, { report, state: await stack.state(), store, searchPath });
    await checkSideTasks(checks, { report, store, searchPath });
    const end = await stack.stop();
    checks.that(`SIGTERM ends it: ${seconds(end.ms)}`, end.code === 0 && end.ms < 10_000, end);
  } finally {
    await clearUp(dataDir);
  }
}

/**
 * Waits until so many issues are done and, when these are all, nothing is left to do.
 * @returns false when that took too long.
 */
export async function untilDone(store: StoreView, count: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (performance.now() < deadline) {
    // The store may be away for a moment, where things are killed.
    const open = await store.open().catch(() => null);
    const isQuiet = open !== null && open.tasks + open.scans + open.projections + open.deliveries === 0;
    if (open !== null && open.done >= count && (count === 1 || isQuiet)) return true;
    await sleep(EVERY_MS);
  }
  return false;
}

/** Lists the issues that are not done, with their errors, for the reader of a failure. */
async function openOf(store: StoreView): Promise<unknown> {
  const issues = await store.rows(`select issue_number::int "number", state, left(last_error, 100) error from issues
    where state <> 'done' order by 1`);
  return { issues, ...(await store.open()) };
}

/** Checks what the work beside the pipeline has left when a journey is over. */
async function checkSideTasks(
  checks: Checks,
  { report, store, searchPath }: { report: StackReport; store: StoreView; searchPath: string },
): Promise<void> {
  const retrospectives = await store.retrospectives();
  checks.none(
    'each merged issue has its retrospective',
    retrospectives
      .filter(({ merged, count }) => merged && count !== 1)
      .map(({ issue, count }) => `#${issue}: ${count}`),
  );
  checks.none(
    'each retrospective has a summary, and the files that were planned and changed',
    retrospectives.flatMap(({ issue, count, withFiles }) =>
      count === withFiles ? [] : [`#${issue}: ${withFiles} of ${count}`],
    ),
  );
  const stored = await store.repoFiles();
  const tree = await withClone({ report, searchPath }, (git) => git('ls-tree', '-r', '-z', 'HEAD'));
  const onHost = tree
    .split('\0')
    .filter((entry) => entry.startsWith('100'))
    .map((entry) => `${entry.slice(entry.indexOf('\t') + 1)} ${entry.split(/[ \t]/)[2]}`);
  checks.that(`the store has the ${onHost.length} files of the repository`, onHost.length > 0);
  checks.none('and no others, each with its content', differences(onHost, stored));
}

function differences(onHost: readonly string[], stored: readonly string[]): string[] {
  const [there, here] = [new Set(onHost), new Set(stored)];
  return [
    ...onHost.filter((file) => !here.has(file)).map((file) => `not in the store: ${file}`),
    ...stored.filter((file) => !there.has(file)).map((file) => `not on the host: ${file}`),
  ];
}

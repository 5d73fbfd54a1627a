import type { StackReport } from '../src/start/report.ts';
import type { Checks } from './checks.ts';
import { withClone } from './host-clone.ts';
import type { StoreView } from './store-view.ts';

/** Checks what the work beside the pipeline has left when a journey is over. */
export async function checkSideTasks(
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

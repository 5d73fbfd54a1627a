import { spawnSync } from 'node:child_process';
import type { Row } from './model.ts';

/** Programs that some rows run, with the Debian package of each. */
const PACKAGES = { pgbench: 'postgresql', wrk: 'wrk' } as const;

export type Program = keyof typeof PACKAGES;

/** Returns a line for each program that the rows need and that does not run on this machine. */
export function missingPrograms(rows: readonly Row[], isThere: (name: Program) => boolean = runs): string[] {
  return (Object.keys(PACKAGES) as Program[]).flatMap((name) => {
    const goals = rows.filter(({ needs }) => needs?.includes(name)).map(({ goal }) => goal);
    if (goals.length === 0 || isThere(name)) return [];
    return [`${name} is missing (Debian: apt-get install ${PACKAGES[name]}); goals ${goals.join(', ')} need it`];
  });
}

/** wrk has no option that succeeds without an address, so only a failed start counts. */
function runs(name: Program): boolean {
  const { error, status } = spawnSync(name, ['--version'], { stdio: 'ignore' });
  return error === undefined && (name === 'wrk' || status === 0);
}

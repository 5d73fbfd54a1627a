/*
 * Preloaded into every child: `node --import leash.ts?parent=PID program.ts`. A child whose parent was killed outright
 * hears of it by nobody, so it looks whether its parent is still the same one, and ends itself when it is not:
 * SIGTERM, 3 s later SIGTERM again (at once, please), 3 s later SIGKILL to its whole process group. With `&group` the
 * group is killed straight away: for programs whose work is worth nothing without their parent.
 */
import { deadlineSignal } from '@pipeline/runtime';

const EVERY_MS = 500;
const STEP_MS = 3_000;

const { searchParams } = new URL(import.meta.url);
const parent = Number(searchParams.get('parent'));
const ends: (() => void)[] = [
  () => process.kill(process.pid, 'SIGTERM'),
  () => process.kill(process.pid, 'SIGTERM'),
  killGroup,
];
if (searchParams.has('group')) ends.splice(0, 2);

// These deadlines hold no process alive.
const later = (ms: number, work: () => void) => deadlineSignal(ms).addEventListener('abort', work, { once: true });

function killGroup(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // Started without a group of its own.
    process.kill(process.pid, 'SIGKILL');
  }
}

function look(): void {
  if (process.ppid !== parent) ends.shift()?.();
  if (ends.length > 0) later(process.ppid === parent ? EVERY_MS : STEP_MS, look);
}

if (parent > 0) look();

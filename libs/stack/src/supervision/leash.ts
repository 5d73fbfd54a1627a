/*
 * Preloaded into every child: `node --import leash.ts?parent=PID program.ts`. A child whose parent was killed outright
 * gets no notice of it, so it checks whether its parent is still the same one, and ends itself when it is not: SIGTERM,
 * and 9 s later SIGKILL to its whole process group. `&again`: for programs that know a second SIGTERM, which comes
 * after 3 s. `&group`: the group is killed straight away, for programs whose work is worth nothing without their parent.
 */
import { deadlineSignal } from '@pipeline/runtime/sleep';

const EVERY_MS = 500;

const { searchParams } = new URL(import.meta.url);
const parent = Number(searchParams.get('parent'));
const sigterm = () => process.kill(process.pid, 'SIGTERM');

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

function end(): void {
  if (searchParams.has('group')) killGroup();
  sigterm();
  if (searchParams.has('again')) later(3_000, sigterm);
  later(9_000, killGroup);
}

function look(): void {
  if (process.ppid === parent) later(EVERY_MS, look);
  else end();
}

if (parent > 0) look();

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processIdentity } from '@pipeline/local-postgres';
import { sleep } from '@pipeline/runtime';
import { z } from 'zod';

const FILE = 'processes.json';

/**
 * Processes by name: the pid, and the pid with its start time, which distinguishes it from a later process of the same
 * number.
 */
const Processes = z.record(z.string(), z.object({ pid: z.int().positive(), identity: z.string() }));
export type Processes = z.output<typeof Processes>;

/** Processes that a stack started, kept in its data folder for the start after a crash. */
export class ProcessList {
  readonly #file: string;
  readonly #entries: Processes = {};

  constructor(dataDir: string) {
    this.#file = join(dataDir, FILE);
  }

  async note(name: string, pid: number): Promise<void> {
    const identity = await processIdentity(pid);
    if (identity === null) return;
    this.#entries[name] = { pid, identity };
    const fresh = `${this.#file}.new`;
    writeFileSync(fresh, JSON.stringify(this.#entries, null, 2));
    renameSync(fresh, this.#file);
  }

  clear(): void {
    rmSync(this.#file, { force: true });
  }
}

/** The processes of the stack that uses the folder, or used it last. */
export function readProcesses(dataDir: string): Processes {
  try {
    return Processes.parse(JSON.parse(readFileSync(join(dataDir, FILE), 'utf8')));
  } catch {
    // Missing, or cut off by a crash: then the leash alone has to do.
    return {};
  }
}

/** Kills what a stack that was killed left running, each with its group, and waits until it is gone. */
export async function endLeftovers(dataDir: string): Promise<string[]> {
  const ended: string[] = [];
  for (const [name, { pid, identity }] of Object.entries(readProcesses(dataDir))) {
    if ((await processIdentity(pid)) !== identity) continue;
    process.kill(-pid, 'SIGKILL');
    while ((await processIdentity(pid)) === identity) await sleep(10);
    ended.push(name);
  }
  return ended;
}

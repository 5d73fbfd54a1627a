import { join } from 'node:path';
import { ChildLog } from './child-log.ts';
import type { ChildSpec } from './child-spec.ts';
import { ProcessList } from './process-list.ts';
import { Supervised } from './supervised.ts';

export interface SupervisorOptions {
  dataDir: string;
  say(message: string): void;
}

/** All children of the stack. */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #list: ProcessList;
  readonly #children: Supervised[] = [];
  readonly #noting = new Set<Promise<void>>();
  #stopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#list = new ProcessList(options.dataDir);
  }

  /**
   * Starts a child and keeps it running.
   * @returns what it told when it was ready. @throws ChildFailed when it ends before that.
   */
  start(spec: ChildSpec): Promise<string> {
    if (this.#stopping) throw new Error('the stack is stopping');
    const { dataDir, say } = this.#options;
    const log = new ChildLog(join(dataDir, 'logs'), spec.name);
    const child = new Supervised({ spec, log, say, onSpawn: (pid) => this.#note(spec.name, pid) });
    this.#children.push(child);
    return child.start();
  }

  /** Stops these side by side, or all that are left. */
  async stop(names?: readonly string[]): Promise<void> {
    const chosen = this.#children.filter(({ name }) => names === undefined || names.includes(name));
    await Promise.all(chosen.map((child) => child.stop()));
  }

  /** From now on nothing is started. */
  close(): void {
    this.#stopping = true;
  }

  /** Forgets the processes, which have all ended. */
  async forget(): Promise<void> {
    await Promise.all(this.#noting);
    this.#list.clear();
  }

  /** Ends everything at once; works while this process exits. */
  killAll(): void {
    this.#stopping = true;
    for (const child of this.#children) child.kill();
  }

  #note(name: string, pid: number): void {
    const noting = this.#list.note(name, pid).finally(() => this.#noting.delete(noting));
    this.#noting.add(noting);
  }
}

import { join } from 'node:path';
import { sleep } from '@pipeline/runtime';
import { ChildLife } from './child-life.ts';
import { ChildLog } from './child-log.ts';
import { type ChildSpec, howEnded } from './child-spec.ts';
import { ProcessList } from './process-list.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** Killed so often while it starts, a child is given up. */
const MOST_KILLS = 3;
/** A child that ran for so long begins with short pauses again. */
const STEADY_MS = 10_000;

export interface SupervisedOptions {
  spec: ChildSpec;
  log: ChildLog;
  /** Something that the person at the terminal should know. */
  say(message: string): void;
  /** Called with each new process. */
  onSpawn(pid: number): void;
}

// idle -(start)-> starting -(ready)-> running -(ended)-> pause -> starting …;  any -(stop)-> stopped
/** A child that is started again, with growing pauses, whenever it ends unasked. */
class Supervised {
  readonly #options: SupervisedOptions;
  readonly #stopping = new AbortController();
  #life: ChildLife | null = null;
  #keeping: Promise<void> | null = null;

  constructor(options: SupervisedOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.spec.name;
  }

  /**
   * The first start. A child that is killed meanwhile is started again, a few times; one that ends by itself is not.
   * @returns the result of its ready line. @throws ChildFailed
   */
  async start(): Promise<string> {
    for (let kills = 0; ; kills += 1) {
      const life = this.#spawn();
      try {
        const result = await life.ready;
        this.#keeping = this.#keep(life);
        return result;
      } catch (error) {
        const end = await life.ended;
        if (end.signal === null || kills === MOST_KILLS || this.#stopping.signal.aborted) throw error;
        this.#options.say(`${this.name} ended while it started (${howEnded(end)}); starting it again`);
      }
    }
  }

  /** Signals it to end and waits until it has; what does not end in its time is killed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#life?.stop();
    await this.#keeping;
    await this.#options.log.close();
  }

  kill(): void {
    this.#stopping.abort();
    this.#life?.kill();
  }

  async #keep(first: ChildLife): Promise<void> {
    const { signal } = this.#stopping;
    const { say } = this.#options;
    let pauseMs = FIRST_PAUSE_MS;
    for (let life = first; ; life = this.#spawn()) {
      const since = performance.now();
      const isReady = await life.ready.then(
        () => true,
        () => false,
      );
      if (isReady && life !== first) say(`${this.name} is running again`);
      const end = await life.ended;
      if (signal.aborted) return;
      if (performance.now() - since > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
      const why = isReady ? '' : `: ${this.#options.log.tail.split('\n').at(-1) ?? ''}`;
      say(`${this.name} ended (${howEnded(end)})${why}; restarting in ${pauseMs / 1000} s`);
      if (!(await sleep(pauseMs, signal))) return;
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }

  #spawn(): ChildLife {
    const { spec, log, onSpawn } = this.#options;
    const life = new ChildLife(spec, log);
    this.#life = life;
    onSpawn(life.pid);
    return life;
  }
}

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
   * @returns the result of its ready line. @throws ChildFailed when it ends before that.
   */
  start(spec: ChildSpec): Promise<string> {
    if (this.#stopping) throw new Error('the stack is stopping');
    const { dataDir, say } = this.#options;
    const log = new ChildLog(join(dataDir, 'logs'), spec.name);
    const child = new Supervised({ spec, log, say, onSpawn: (pid) => this.#note(spec.name, pid) });
    this.#children.push(child);
    return child.start();
  }

  /** Stops these concurrently, or all that are left. */
  async stop(names?: readonly string[]): Promise<void> {
    const chosen = this.#children.filter(({ name }) => names === undefined || names.includes(name));
    await Promise.all(chosen.map((child) => child.stop()));
  }

  /** Prevents every later start. */
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

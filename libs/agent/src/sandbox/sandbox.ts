import {
  ContainedProcess,
  type FinishedProgram,
  type Launch,
  outputOf,
  type ProgramLimits,
  type RunAs,
  type RunningProgram,
  type TaskProgram,
} from '@pipeline/worker';

/** Files and network of the programs in a box. Without a sandbox they have all that their user has. */
export interface BoxAccess {
  /** Folders that are read and written. */
  writable: readonly string[];
  /** Folders that are only read. */
  readable: readonly string[];
  /** False = no network at all. */
  network: boolean;
}

/** Place where programs of one task run. Nothing of them outlives it. */
export interface Box {
  /** @throws Error after the end of the box. */
  start(program: TaskProgram, stdin: 'pipe' | 'ignore'): RunningProgram;
  /** Starts a program and returns its output. @throws Error like `outputOf`. */
  run(program: TaskProgram, limits: ProgramLimits): Promise<FinishedProgram>;
  /** Ends all programs, in a namespace with everything that they started, and waits for their end. No other one starts. */
  end(): Promise<void>;
}

/** A kind of box. */
export interface Sandbox {
  name: string;
  /** User that programs run as, and owner of their files; null = the user of this process. */
  user: RunAs | null;
  /** True = programs reach no file outside their box. */
  isConfined: boolean;
  /** True = nothing that a program starts outlives its box. */
  isNamespace: boolean;
  open(access: BoxAccess): Box;
}

/** A box whose programs are processes of this machine. */
export class ProcessBox implements Box {
  readonly #launch: (program: TaskProgram) => Launch;
  readonly #running = new Set<ContainedProcess>();
  #hasEnded = false;

  constructor(launch: (program: TaskProgram) => Launch) {
    this.#launch = launch;
  }

  start(program: TaskProgram, stdin: 'pipe' | 'ignore'): ContainedProcess {
    if (this.#hasEnded) throw new Error('the box of the task has ended');
    const started = new ContainedProcess(this.#launch(program), stdin);
    this.#running.add(started);
    const over = () => void this.#running.delete(started);
    started.ended.then(over, over);
    return started;
  }

  async run(program: TaskProgram, limits: ProgramLimits): Promise<FinishedProgram> {
    return outputOf(this.start(program, 'pipe'), limits);
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    const running = [...this.#running];
    for (const each of running) each.kill();
    await Promise.allSettled(running.map(({ ended }) => ended));
  }
}

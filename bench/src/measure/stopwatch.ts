import { type Cpu, cpuBetween, readCpu, type Sample } from './sample.ts';

/** Time and CPU between two moments. */
export class Stopwatch {
  readonly #postmaster: number;
  #began: number | undefined;
  #cpuBefore: Cpu | null = null;

  constructor(postmaster: number) {
    this.#postmaster = postmaster;
  }

  get isRunning(): boolean {
    return this.#began !== undefined;
  }

  begin(): void {
    this.#cpuBefore = readCpu(this.#postmaster);
    this.#began = performance.now();
  }

  /** Ends. @returns items per second and CPU per item. */
  rate(items: number): Sample {
    if (this.#began === undefined) throw new Error('the stopwatch was not started');
    const ms = performance.now() - this.#began;
    const cpu = readCpu(this.#postmaster);
    return {
      value: items / (ms / 1000),
      cpu: cpu && this.#cpuBefore && cpuBetween(this.#cpuBefore, cpu, items),
    };
  }
}

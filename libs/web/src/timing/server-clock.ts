/** A Date header has whole seconds and is one round trip old: smaller differences are noise. */
const TOLERANCE_MS = 2_000;

/** Clock of the monitor, so that ages are right on a machine whose clock is wrong. */
export class ServerClock {
  private offsetMs = 0;
  private readonly localNow: () => number;

  constructor(localNow: () => number) {
    this.localNow = localNow;
  }

  /** Takes the value of a Date header or a server timestamp. */
  observe(date: string | null): void {
    const time = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(time)) return;
    const offset = time - this.localNow();
    if (Math.abs(offset - this.offsetMs) > TOLERANCE_MS) this.offsetMs = Math.abs(offset) > TOLERANCE_MS ? offset : 0;
  }

  /** Epoch milliseconds on the monitor's clock. */
  now(): number {
    return this.localNow() + this.offsetMs;
  }
}

export const serverClock = new ServerClock(() => Date.now());

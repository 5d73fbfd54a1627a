import type { ExecuteResult, VcsHost } from '@pipeline/domain';

/** A fault of the next writes of a monitor. */
export interface WriteFault {
  /** True = the host executes the writes whose responses are lost. */
  written: boolean;
  /** Number of writes. */
  writes: number;
}

/** The connection of one monitor to the host. Writes with a fault hang. */
export class HostConnection {
  readonly vcs: VcsHost;
  /** Number of writes that began. */
  begun = 0;
  fault: WriteFault = { written: false, writes: 0 };
  readonly #host: () => VcsHost;
  #hanging: { settle: (cut: boolean) => void }[] = [];
  #onHang: () => void = () => undefined;
  #isCut = false;

  /** @param host returns the host of the current run. */
  constructor(host: () => VcsHost) {
    this.#host = host;
    this.vcs = new Proxy({} as VcsHost, {
      get: (_target, key) => (key === 'execute' ? this.#execute : Reflect.get(host(), key)),
    });
  }

  /** Settles when a write hangs. */
  hung(): Promise<void> {
    if (this.#hanging.length > 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onHang = resolve;
    });
  }

  /** Ends the writes that hang: with their response, or with an error when the connection is cut. */
  release(cut: boolean): void {
    this.#isCut ||= cut;
    for (const { settle } of this.#hanging.splice(0)) settle(cut);
  }

  #execute: VcsHost['execute'] = async (...write) => {
    this.begun += 1;
    if (this.#isCut) throw new Error('the connection is cut');
    if (this.fault.writes === 0) return this.#host().execute(...write);
    this.fault.writes -= 1;
    const answer = this.fault.written ? await this.#host().execute(...write) : null;
    return new Promise<ExecuteResult>((resolve, reject) => {
      const settle = (cut: boolean) => (cut || !answer ? reject(new Error('the connection is cut')) : resolve(answer));
      this.#hanging.push({ settle });
      if (this.#isCut) this.release(true);
      this.#onHang();
    });
  };
}

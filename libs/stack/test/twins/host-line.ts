import type { ExecuteResult, VcsHost } from '@pipeline/domain';

/** What befalls the next writes of a monitor. */
export interface Fate {
  /** Whether the host has carried the write out when nobody hears of it any more. */
  written: boolean;
  /** How many of them. */
  writes: number;
}

/** The line of one monitor to the host: writes hang on it where its fate says so. */
export class HostLine {
  readonly vcs: VcsHost;
  /** Writes that were begun. */
  begun = 0;
  fate: Fate = { written: false, writes: 0 };
  readonly #host: () => VcsHost;
  #hanging: { settle: (cut: boolean) => void }[] = [];
  #onHang: () => void = () => undefined;
  #isCut = false;

  /** @param host the one of the run under way. */
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

  /** What hangs goes on: it has its answer, or its line is cut. */
  release(cut: boolean): void {
    this.#isCut ||= cut;
    for (const { settle } of this.#hanging.splice(0)) settle(cut);
  }

  #execute: VcsHost['execute'] = async (...write) => {
    this.begun += 1;
    if (this.#isCut) throw new Error('the line is cut');
    if (this.fate.writes === 0) return this.#host().execute(...write);
    this.fate.writes -= 1;
    const answer = this.fate.written ? await this.#host().execute(...write) : null;
    return new Promise<ExecuteResult>((resolve, reject) => {
      const settle = (cut: boolean) => (cut || !answer ? reject(new Error('the line is cut')) : resolve(answer));
      this.#hanging.push({ settle });
      if (this.#isCut) this.release(true);
      this.#onHang();
    });
  };
}

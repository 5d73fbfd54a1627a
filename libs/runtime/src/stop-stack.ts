interface Part {
  name: string;
  stop: () => Promise<unknown> | unknown;
}

/** What has to be stopped, stopped in reverse order of its start. */
export class StopStack {
  readonly #parts: Part[] = [];
  #stopping: Promise<void> | undefined;
  #stopped = false;

  /** Registers a part; one that comes after everything has stopped is stopped at once. */
  add(name: string, stop: Part['stop']): void {
    this.#parts.push({ name, stop });
    if (this.#stopped) this.#stopping = this.#stopAll();
  }

  /**
   * Stops every part, each after the one before it, also past failures. Again: the same promise.
   * @throws AggregateError of all failures, each naming its part.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const errors: unknown[] = [];
    // A start that still runs may add parts while others stop; the loop takes them too.
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      await attempt(part).catch((error: unknown) => errors.push(error));
    }
    this.#stopped = true;
    if (errors.length > 0) throw new AggregateError(errors, errors.map((error) => (error as Error).message).join('; '));
  }
}

async function attempt({ name, stop }: Part): Promise<void> {
  try {
    await stop();
  } catch (cause) {
    throw new Error(`${name} did not stop cleanly`, { cause });
  }
}

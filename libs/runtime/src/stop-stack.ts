interface Part {
  name: string;
  stop: () => Promise<unknown> | unknown;
}

/** Registry of started components, stopped in reverse order. */
export class StopStack {
  readonly #parts: Part[] = [];
  #stopping: Promise<void> | undefined;
  #stopped = false;

  /** Registers a component; after shutdown it is stopped immediately. */
  add(name: string, stop: Part['stop']): void {
    this.#parts.push({ name, stop });
    if (this.#stopped) this.#stopping = this.#stopAll();
  }

  /**
   * Stops all components one after the other and continues after failures. Repeated calls return the same promise.
   * @throws AggregateError of all failures, each naming its component.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    const errors: unknown[] = [];
    // A start in progress may register components during shutdown; the loop stops them too.
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

import type { Frame } from './frame.ts';

/** The newest facts of the stream, for clients that come back (interface: Event replay buffer). */
export class EventWindow {
  readonly #size: number;
  readonly #frames: Frame[] = [];
  /** The newest fact that is no longer here. */
  #forgotten = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Heartbeats are not kept: no client misses one. */
  push(frames: readonly Frame[]): void {
    this.#frames.push(...frames.filter(({ type }) => type !== 'heartbeat'));
    const gone = this.#frames.splice(0, this.#frames.length - this.#size);
    this.#forgotten = gone.at(-1)?.id ?? this.#forgotten;
  }

  /** Returns the frames that follow `id`; `gap` when more were missed than are kept. */
  since(id: number): { gap: boolean; frames: readonly Frame[] } {
    return { gap: id < this.#forgotten, frames: this.#frames.filter((frame) => frame.id > id) };
  }
}

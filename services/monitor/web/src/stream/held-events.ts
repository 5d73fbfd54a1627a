import type { StreamEvent } from './events.ts';
import { pause } from './live-facts.ts';

/** Receiver of the events of the stream in this tab. */
export interface Sink {
  apply(event: StreamEvent): void;
  /** Fetches everything again. */
  refetch(): void;
}

/** More held events than this cost more to apply than fetching everything again. */
const MOST_HELD = 200;

let sink: Sink = { apply: () => undefined, refetch: () => undefined };
let held: StreamEvent[] = [];

export const feedInto = (target: Sink): void => {
  sink = target;
};

/** Applies an event, or holds it back while the updates are paused. */
export function takeEvent(event: StreamEvent): void {
  if (pause.get().paused) {
    held.push(event);
    pause.set({ paused: true, held: held.length });
  } else sink.apply(event);
}

/** Holds events back from now on, or applies those that were held. */
export function setPaused(paused: boolean): void {
  const waiting = held;
  held = [];
  pause.set({ paused, held: 0 });
  if (paused) return;
  if (waiting.length > MOST_HELD) sink.refetch();
  else for (const event of waiting) sink.apply(event);
}

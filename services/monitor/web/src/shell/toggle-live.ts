import { setPaused } from '../stream/held-events.ts';
import { pause } from '../stream/live-facts.ts';

/** Holds live updates back, or applies those that were held. */
export const pauseOrResume = (): void => setPaused(!pause.get().paused);

import { createSignal } from '@pipeline/web/shared/signal.ts';
import type { LiveFacts } from './live-state.ts';

/** The stream as the leading tab reports it. */
export const liveFacts = createSignal<LiveFacts>({
  phase: 'connecting',
  lastMessageAt: null,
  since: Date.now(),
  attempt: 0,
});

/** `held` events wait while the person has paused the updates. */
export const pause = createSignal<{ paused: boolean; held: number }>({ paused: false, held: 0 });

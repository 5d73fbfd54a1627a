import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { useNow } from '@pipeline/web/timing/use-now.ts';
import { session } from '../api/session-state.ts';
import { useStoreOffline } from '../api/store-offline.ts';
import { liveFacts, pause } from './live-facts.ts';
import { type LiveFacts, type LiveState, liveState } from './live-state.ts';

export interface Live {
  state: LiveState;
  facts: LiveFacts;
  held: number;
}

/** Returns the state of the event stream; re-renders every second. */
export function useLive(): Live {
  useNow();
  const facts = useSignal(liveFacts);
  const { paused, held } = useSignal(pause);
  const signedOut = useSignal(session) === 'out';
  const storeOffline = useStoreOffline();
  return { state: liveState(facts, { now: Date.now(), signedOut, storeOffline, paused }), facts, held };
}

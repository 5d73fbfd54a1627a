import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { AGE_STEP_MS, onTick, useNow } from '@pipeline/web/timing/use-now.ts';
import { useSyncExternalStore } from 'react';
import { session } from '../api/session-state.ts';
import { storeOffline } from '../api/store-offline.ts';
import { liveFacts, pause } from './live-facts.ts';
import { isOutdated, type LiveFacts, type LiveState, liveState } from './live-state.ts';

export interface Live {
  state: LiveState;
  facts: LiveFacts;
  held: number;
}

const currentState = (): LiveState =>
  liveState(liveFacts.get(), {
    now: Date.now(),
    signedOut: session.get() === 'out',
    storeOffline: storeOffline.get(),
    paused: pause.get().paused,
  });

/** Returns the state of the event stream; re-renders when it changes, and with the other ages for that of the last message. */
export function useLive(): Live {
  useNow(AGE_STEP_MS);
  const facts = useSignal(liveFacts);
  const { held } = useSignal(pause);
  useSignal(session);
  useSignal(storeOffline);
  return { state: currentState(), facts, held };
}

const SOURCES = [liveFacts, pause, session, storeOffline];

function subscribe(listener: () => void): () => void {
  const ends = [onTick(listener), ...SOURCES.map((source) => source.subscribe(listener))];
  return () => {
    for (const end of ends) end();
  };
}

/** Returns whether figures may be out of date; re-renders only when that changes. */
export const useOutdated = (): boolean => useSyncExternalStore(subscribe, () => isOutdated(currentState()));

import { after, delay } from '@pipeline/web/timing/timers.ts';
import { reconnectDelay } from './backoff.ts';
import type { StreamEvent } from './events.ts';
import { CUT_MS, type LiveFacts } from './live-state.ts';
import { readStream } from './read-stream.ts';

/** A tab that takes the stream over after a longer silence fetches everything again, whatever the server replays. */
const LONG_CUT_MS = 60_000;

export interface ConnectionListener {
  onFacts(facts: LiveFacts): void;
  onEvent(event: StreamEvent): void;
  /** Handles that earlier reads may be out of date: no known position, a gap, or a cut. Not every fact is an event. */
  onGap(): void;
}

interface Position {
  lastEventId: number | null;
  lastMessageAt: number | null;
}

/** Keeps the event stream open until the signal aborts or the session has ended. */
export async function keepConnected(
  position: Position,
  signal: AbortSignal,
  listener: ConnectionListener,
): Promise<'signed-out' | 'aborted'> {
  let { lastEventId, lastMessageAt } = position;
  let since = Date.now();
  let attempt = 0;
  let wasOpen = false;
  const report = (phase: LiveFacts['phase']): void => listener.onFacts({ phase, lastMessageAt, since, attempt });

  const once = async (): Promise<number | null> => {
    const silence = new AbortController();
    let stopWatch = after(CUT_MS, () => silence.abort());
    let isOpen = false;
    const end = await readStream(lastEventId, AbortSignal.any([signal, silence.signal]), {
      onOpen: () => {
        const wasCut = lastMessageAt !== null && Date.now() - lastMessageAt > LONG_CUT_MS;
        if (lastEventId === null || wasOpen || wasCut) listener.onGap();
        wasOpen = true;
        isOpen = true;
        lastMessageAt = Date.now();
        attempt = 0;
        report('open');
      },
      onMessage: () => {
        stopWatch();
        stopWatch = after(CUT_MS, () => silence.abort());
        lastMessageAt = Date.now();
        report('open');
      },
      onEvent: (event) => {
        lastEventId = Math.max(lastEventId ?? 0, event.id);
        listener.onEvent(event);
      },
      onGap: () => listener.onGap(),
    }).catch(() => null);
    stopWatch();
    // An attempt that fails loses nothing: the figures are as old as the connection before it.
    if (isOpen) since = Date.now();
    return end?.kind === 'refused' ? end.status : null;
  };

  while (!signal.aborted) {
    report('connecting');
    const refused = await once();
    if (signal.aborted) break;
    if (refused === 401) {
      report('signed-out');
      return 'signed-out';
    }
    report('waiting');
    await delay(reconnectDelay(attempt, Math.random()), signal);
    attempt += 1;
  }
  return 'aborted';
}

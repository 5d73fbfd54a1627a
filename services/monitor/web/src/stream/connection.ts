import { after, delay } from '@pipeline/web/timing/timers.ts';
import { createParser } from 'eventsource-parser';
import { eventOf, type StreamEvent } from './events.ts';
import { CUT_MS, type LiveFacts } from './live-state.ts';

interface StreamListener {
  /** The response has begun. */
  onOpen(): void;
  onEvent(event: StreamEvent): void;
  /** Events were lost: the server's buffer did not reach back to the last id. */
  onGap(): void;
  /** Any message, a comment among them. */
  onMessage(): void;
}

type StreamEnd = { kind: 'ended' } | { kind: 'refused'; status: number };

const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

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

/**
 * Returns the wait before reconnect number `attempt` (from 0), 1 to 30 seconds. Half of it is random, so that the
 * browsers of a restarted monitor do not return at the same moment.
 * @param random from 0 to 1.
 */
export const reconnectDelay = (attempt: number, random: number): number => {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt + 1, 10));
  return Math.max(FIRST_MS, longest / 2 + (longest / 2) * random);
};

/**
 * Reads the event stream until it ends or the signal aborts. `EventSource` hides comments, so that a gap would be
 * invisible, and hides the status of a refusal.
 * @throws TypeError when the connection fails.
 */
async function readStream(
  lastEventId: number | null,
  signal: AbortSignal,
  listener: StreamListener,
): Promise<StreamEnd> {
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId !== null && { 'last-event-id': String(lastEventId) }),
  };
  const response = await fetch('/api/events', { headers, signal, cache: 'no-store' });
  if (!response.ok || response.body === null) return { kind: 'refused', status: response.status };
  listener.onOpen();
  const parser = createParser({
    onEvent: (message) => {
      const event = eventOf(message);
      if (event) listener.onEvent(event);
    },
    onComment: (comment) => {
      if (comment.trim() === 'gap') listener.onGap();
    },
  });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return { kind: 'ended' };
    listener.onMessage();
    parser.feed(value);
  }
}

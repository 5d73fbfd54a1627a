import { createParser } from 'eventsource-parser';
import { eventOf, type StreamEvent } from './events.ts';

export interface StreamListener {
  /** The response has begun. */
  onOpen(): void;
  onEvent(event: StreamEvent): void;
  /** Events were lost: the server's buffer did not reach back to the last id. */
  onGap(): void;
  /** Any message, a comment among them. */
  onMessage(): void;
}

export type StreamEnd = { kind: 'ended' } | { kind: 'refused'; status: number };

/**
 * Reads the event stream until it ends or the signal aborts. `EventSource` hides comments, so that a gap would be
 * invisible, and hides the status of a refusal.
 * @throws TypeError when the connection fails.
 */
export async function readStream(
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

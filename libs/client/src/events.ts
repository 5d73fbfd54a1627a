import { sleep, withDeadline } from '@pipeline/runtime/sleep';
import { createParser } from 'eventsource-parser';
import { PipelineError } from './errors.ts';
import type { Transport } from './transport.ts';

/** An event of the monitor's stream, or the notice that events were lost before the next one. */
export type StreamEvent = { type: string; id: number; data: Record<string, unknown> } | { type: 'gap' };

export interface EventOptions {
  query?: { repo?: string; tenant?: string; types?: string };
  /** Replays the events after this one, as far as the monitor still has them. */
  lastEventId?: number;
  signal?: AbortSignal;
}

const LONGEST_WAIT_MS = 30_000;
/** The stream sends a comment every few seconds; one that is silent for so long has died. */
const SILENT_MS = 60_000;

/**
 * Yields events until the signal aborts. A stream that ends or breaks is opened again after the last event that was
 * yielded, so that none is missed or doubled; a `gap` reports that the monitor could not replay all.
 * @throws PipelineError when the monitor refuses the stream.
 */
export async function* streamEvents(transport: Transport, options: EventOptions = {}): AsyncGenerator<StreamEvent> {
  const { signal } = options;
  let last = options.lastEventId ?? null;
  for (let failures = 0; !signal?.aborted; failures += 1) {
    if (failures > 0) await sleep(Math.min(LONGEST_WAIT_MS, 500 * 2 ** failures), signal);
    try {
      for await (const event of readOnce(transport, options, last)) {
        failures = 0;
        if ('id' in event) last = event.id;
        yield event;
      }
    } catch (error) {
      if (error instanceof PipelineError && error.status < 500) throw error;
    }
  }
}

async function* readOnce(
  transport: Transport,
  { query = {}, signal }: EventOptions,
  last: number | null,
): AsyncGenerator<StreamEvent> {
  const search = new URLSearchParams(Object.entries(query));
  const headers = { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': String(last) }) };
  const address = `/api/events${search.size === 0 ? '' : `?${search}`}`;
  const response = await transport.open('GET', address, { headers, ...(signal && { signal }) });
  const waiting: StreamEvent[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      waiting.push({ type: event ?? 'message', id: Number(id), data: JSON.parse(data) }),
    onComment: (comment) => comment.trim() === 'gap' && waiting.push({ type: 'gap' }),
  });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const chunk = await withDeadline(reader?.read() ?? END, SILENT_MS, 'the next message');
      if (chunk.done) return;
      parser.feed(decoder.decode(chunk.value, { stream: true }));
      yield* waiting.splice(0);
    }
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

const END = Promise.resolve({ done: true as const, value: undefined });

import { STREAM_EVENTS, type StreamEventType } from '@pipeline/contract';
import { EventSource } from 'eventsource';

export interface Seen {
  id: number;
  type: string;
  data: Record<string, unknown>;
}

const TYPES = Object.keys(STREAM_EVENTS) as StreamEventType[];

/**
 * A client as a browser is one: it connects again by itself and sends the last id that it received. Data is held to the
 * contract.
 */
export class StreamClient {
  readonly seen: Seen[] = [];
  readonly violations: string[] = [];
  readonly #source: EventSource;

  constructor(
    url: string,
    { at = () => url, headers = {} }: { at?: () => string; headers?: Record<string, string> } = {},
  ) {
    this.#source = new EventSource(url, {
      // Each connection may go elsewhere, as behind a balancer.
      fetch: (_input, init) => fetch(at(), { ...init, headers: { ...init.headers, ...headers } }),
    });
    for (const type of TYPES) this.#source.addEventListener(type, (event) => this.#take(type, event));
  }

  #take(type: StreamEventType, { data, lastEventId }: MessageEvent): void {
    const payload = JSON.parse(String(data)) as Record<string, unknown>;
    const parsed = STREAM_EVENTS[type].strict().safeParse(payload);
    if (!parsed.success) this.violations.push(`${type} ${data}: ${parsed.error.message}`);
    this.seen.push({ id: Number(lastEventId), type, data: payload });
  }

  get isOpen(): boolean {
    return this.#source.readyState === EventSource.OPEN;
  }

  get ids(): number[] {
    return this.seen.map(({ id }) => id);
  }

  close(): void {
    this.#source.close();
  }
}

/** Reads a stream as text, for what a client library hides: comments, the time to wait, the end. */
export class RawStream {
  text = '';
  ended = false;
  readonly #abort = new AbortController();

  static async open(url: string, headers: Record<string, string> = {}): Promise<RawStream> {
    const stream = new RawStream();
    const response = await fetch(url, { headers, signal: stream.#abort.signal });
    if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    void stream.#read(response.body);
    return stream;
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) this.text += decoder.decode(chunk, { stream: true });
    } catch {
      // Cut by the other side, or closed by this one.
    }
    this.ended = true;
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  }

  close(): void {
    this.#abort.abort();
  }
}

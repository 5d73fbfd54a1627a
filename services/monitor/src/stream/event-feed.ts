import type { ServerResponse } from 'node:http';
import { AppError } from '@pipeline/domain';
import {
  newestFacts,
  STREAM_BATCH,
  type Store,
  type StreamEvent,
  sequenceHeartbeat,
  streamAfter,
  streamHead,
} from '@pipeline/store';
import { Broadcast, GAP } from './broadcast.ts';
import { EventWindow } from './event-window.ts';
import { type Frame, frameOf, passes, type StreamFilter } from './frame.ts';

const REPLAYED = 100;
const HEARTBEAT_MS = 30_000;
/** How long a client waits before it connects again. */
const RETRY = 'retry: 3000\n\n';
const NEVER_GIVEN = -1;

export interface EventFeedDeps {
  store: Pick<Store, 'fleet'>;
  /** Seconds since the start of the process. */
  uptime: () => number;
  now: () => Date;
}

/**
 * The live stream of this replica: follows the stream of the store by id and hands each event to every client, in the
 * same order as every other replica does.
 *
 * stopped -(first tick)-> running -(close)-> closed
 */
export class EventFeed {
  readonly #deps: EventFeedDeps;
  readonly #window = new EventWindow(REPLAYED);
  readonly #clients = new Broadcast();
  /** The newest id that was handed out; null before the first tick. */
  #last: number | null = null;
  #lastBeat: number;
  #closed = false;

  constructor(deps: EventFeedDeps) {
    this.#deps = deps;
    this.#lastBeat = deps.now().getTime();
  }

  get clients(): number {
    return this.#clients.size;
  }

  /**
   * Hands out what is new: what this process has just numbered where that is next, else what one statement reads.
   * @returns 'again' when there may be more.
   */
  async tick(numbered: readonly StreamEvent[] = []): Promise<'again' | undefined> {
    const { fleet } = this.#deps.store;
    if (this.#last === null) {
      const head = await streamHead(fleet);
      // One more than is replayed, so that the window knows whether it is all there was.
      this.#window.push(this.#frames(await newestFacts(fleet, head, REPLAYED + 1)));
      this.#last = head;
    }
    const events = numbered[0]?.id === this.#last + 1 ? numbered : await streamAfter(fleet, this.#last);
    const [first] = events;
    if (!first) return undefined;
    const frames = this.#frames(events);
    // Ids have no gaps; one here means that the store has forgotten what came between.
    this.#hand(first.id > this.#last + 1 ? [null, ...frames] : frames);
    this.#window.push(frames);
    this.#last = events.at(-1)?.id ?? this.#last;
    return events.length === STREAM_BATCH ? 'again' : undefined;
  }

  #frames(events: readonly StreamEvent[]): Frame[] {
    return events.map((event) => frameOf(event, this.#deps.uptime()));
  }

  #hand(frames: readonly (Frame | null)[]): void {
    if (frames.some((frame) => frame?.type === 'heartbeat')) this.#lastBeat = this.#deps.now().getTime();
    this.#clients.send(frames);
  }

  /**
   * Sees to it that clients hear something every 30 s. The heartbeat comes through the store, so that its id stands in
   * line for all replicas; while the store is away, this process sends one of its own with the newest id.
   * @returns true when it put one on the stream, to be read.
   */
  async beat(isConnected: boolean): Promise<boolean> {
    const now = this.#deps.now();
    if (this.#last === null || now.getTime() - this.#lastBeat < HEARTBEAT_MS) return false;
    if (isConnected) return sequenceHeartbeat(this.#deps.store.fleet, HEARTBEAT_MS);
    const at = now.toISOString();
    this.#hand(this.#frames([{ id: this.#last, tenantId: 0, type: 'heartbeat', data: {}, at }]));
    return false;
  }

  /**
   * Finds out what a client that comes back has missed.
   * @param lastEventId the last one it saw; null for one that comes anew. An id that the store never gave out counts as
   * older than all.
   * @returns from where `stream` goes on.
   * @throws AppError SSE_UNAVAILABLE while nothing is followed.
   */
  async resume(lastEventId: number | null): Promise<number | null> {
    const last = this.#running();
    if (lastEventId === null || lastEventId <= last) return lastEventId;
    // Another replica may be ahead of this one.
    return lastEventId <= (await streamHead(this.#deps.store.fleet)) ? lastEventId : NEVER_GIVEN;
  }

  /** Writes what was missed, at most 100 events, then what happens from now on. Settles when the stream has ended. */
  async stream(response: ServerResponse, from: number | null, filter: StreamFilter): Promise<void> {
    const last = this.#running();
    const ended = new Promise<void>((resolve) => {
      response.once('close', resolve);
    });
    const missed = from === null ? { gap: false, frames: [] } : this.#window.since(from);
    const frames = missed.frames.filter((frame) => passes(filter, frame));
    // Without chunks: a write is a packet of its own text, and the stream ends with its connection anyway.
    response.useChunkedEncodingByDefault = false;
    response.write(RETRY + (missed.gap ? GAP : '') + frames.map(({ text }) => text).join(''));
    // What waits to be written now has been replayed already.
    this.#clients.add({ response, filter, after: Math.max(last, from ?? last) });
    await ended;
  }

  #running(): number {
    if (this.#last !== null && !this.#closed) return this.#last;
    throw new AppError('SSE_UNAVAILABLE', 'The event stream is not running');
  }

  /** Ends all streams with a last comment; none is opened any more. */
  close(): void {
    this.#closed = true;
    this.#clients.end();
  }
}

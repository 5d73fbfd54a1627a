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
import { Broadcast, type Client, type Frame, frameOf, GAP, passes, type StreamFilter } from './broadcast.ts';

const REPLAYED = 100;
const HEARTBEAT_MS = 30_000;
/** Field of the stream that sets the time after which a client connects again. */
const RETRY = 'retry: 3000\n\n';

export interface EventFeedDeps {
  store: Pick<Store, 'db'>;
  /** Seconds since the start of the process. */
  uptime: () => number;
  now: () => Date;
}

/** Position in the stream at which a client continues. */
export interface StreamPlace {
  /** It has everything up to this id; null = it gets nothing of the past. */
  after: number | null;
  /**
   * Its last id was never given out, as after the restore of a backup: no buffered event is greater, but events may be
   * missing.
   */
  isUnknown: boolean;
  /** False = the store could not be queried for that id. */
  isVerified: boolean;
}

export interface StreamClient {
  response: ServerResponse;
  /** Calls its argument once when the connection has closed, at once if it has already. */
  onClose(work: () => void): void;
  place: StreamPlace;
  filter: StreamFilter;
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
  /**
   * Clients that came back while the store was away with an id that this replica had not seen, and its newest id then.
   */
  readonly #unverified = new Map<Client, number>();
  #lastBeat: number;
  #closed = false;

  constructor(deps: EventFeedDeps) {
    this.#deps = deps;
    this.#lastBeat = deps.now().getTime();
  }

  get clients(): number {
    return this.#clients.size;
  }

  /** Id of the newest event that was handed out; null while the stream does not run. What it reports is committed. */
  get position(): number | null {
    return this.#closed ? null : this.#last;
  }

  /**
   * Hands out what is new: what this process has just numbered where that is next, else what one statement reads.
   * @param isDue whether to read in any case, because others may have numbered events.
   * @returns 'again' when there may be more.
   */
  async tick(
    numbered: readonly StreamEvent[] = [],
    isDue: boolean = numbered.length === 0,
  ): Promise<'again' | undefined> {
    const { db } = this.#deps.store;
    if (this.#last === null) {
      const head = await streamHead(db);
      // One more than is replayed, so that the window shows whether it is all there was.
      this.#window.push(this.#frames(await newestFacts(db, head, REPLAYED + 1)));
      this.#last = head;
    }
    if (!isDue && numbered.length === 0) return undefined;
    const isNext = !isDue && numbered[0]?.id === this.#last + 1;
    const events = isNext ? numbered : await streamAfter(db, this.#last);
    const isBehind = events.length === STREAM_BATCH;
    if (events.length > 0) this.#last = this.#publish(events, this.#last);
    if (!isBehind) this.#verify(this.#last);
    return isBehind ? 'again' : undefined;
  }

  /** @returns the newest id. */
  #publish(events: readonly StreamEvent[], last: number): number {
    const frames = this.#frames(events);
    // Ids have no gaps; one here means that the store has forgotten what came between.
    const isGap = (events[0]?.id ?? 0) > last + 1;
    this.#hand(isGap ? [null, ...frames] : frames);
    this.#window.push(frames);
    return events.at(-1)?.id ?? last;
  }

  /** Everything up to `head` was read: an id above it, of a client that came before, was never given out. */
  #verify(head: number): void {
    for (const [client, since] of this.#unverified) {
      if (client.after > head) this.#clients.move(client, head, GAP + this.#replay(since, client.filter));
    }
    this.#unverified.clear();
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
    if (isConnected) return sequenceHeartbeat(this.#deps.store.db, HEARTBEAT_MS);
    const at = now.toISOString();
    const frames = this.#frames([{ id: this.#last, tenantId: 0, type: 'heartbeat', data: {}, at }]);
    this.#hand(frames.map((frame) => ({ ...frame, isRepeat: true })));
    return false;
  }

  /**
   * Finds the place of a client that comes back.
   * @param lastEventId the last id that it saw; null for a new client.
   * @throws AppError SSE_UNAVAILABLE while nothing is followed.
   */
  async resume(lastEventId: number | null): Promise<StreamPlace> {
    const last = this.#running();
    // Another replica may be ahead of this one.
    const isUnknown =
      lastEventId !== null && lastEventId > last && lastEventId > (await streamHead(this.#deps.store.db));
    return { after: isUnknown ? null : lastEventId, isUnknown, isVerified: true };
  }

  /** `resume` while the store is away: an id that is unknown here is believed until the store can be read again. */
  resumeFromMemory(lastEventId: number | null): StreamPlace {
    const last = this.#running();
    return { after: lastEventId, isUnknown: false, isVerified: lastEventId === null || lastEventId <= last };
  }

  /** Writes what was missed, at most 100 events, then what happens from now on. Settles when the stream has ended. */
  async stream({ response, onClose, place, filter }: StreamClient): Promise<void> {
    const last = this.#running();
    const { after, isUnknown, isVerified } = place;
    // Without chunks: a write is a packet of its own text, and the stream ends with its connection anyway.
    response.useChunkedEncodingByDefault = false;
    response.write(RETRY + (isUnknown ? GAP : '') + (after === null ? '' : this.#replay(after, filter)));
    // What waits to be written now has been replayed already.
    const client = { response, filter, after: Math.max(last, after ?? last) };
    this.#clients.add(client);
    if (!isVerified) this.#unverified.set(client, last);
    await new Promise<void>((resolve) => {
      onClose(() => {
        this.#clients.remove(client);
        this.#unverified.delete(client);
        resolve();
      });
    });
  }

  #replay(after: number, filter: StreamFilter): string {
    const { gap, frames } = this.#window.since(after);
    const texts = frames.filter((frame) => passes(filter, frame)).map(({ text }) => text);
    return (gap ? GAP : '') + texts.join('');
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

/** The newest facts of the stream, for clients that come back (interface: Event replay buffer). */
export class EventWindow {
  readonly #size: number;
  readonly #frames: Frame[] = [];
  /** The newest fact that is no longer here. */
  #forgotten = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Heartbeats are not kept: no client misses one. */
  push(frames: readonly Frame[]): void {
    this.#frames.push(...frames.filter(({ type }) => type !== 'heartbeat'));
    const gone = this.#frames.splice(0, this.#frames.length - this.#size);
    this.#forgotten = gone.at(-1)?.id ?? this.#forgotten;
  }

  /** Returns the frames that follow `id`; `gap` when more were missed than are kept. */
  since(id: number): { gap: boolean; frames: readonly Frame[] } {
    return { gap: id < this.#forgotten, frames: this.#frames.filter((frame) => frame.id > id) };
  }
}

import type { ServerResponse } from 'node:http';
import { sleep } from '@pipeline/runtime';
import type { StreamEvent } from '@pipeline/store';

/** One message of the stream, made once for all who get it. */
export interface Frame {
  id: number;
  type: StreamEvent['type'];
  tenantId: number;
  /** Repo in lower case; null where the event is about no repo. */
  repo: string | null;
  /** Text as it is sent over the wire. */
  text: string;
  /** A heartbeat of this process alone, while the store is away: it carries the id that its client has already. */
  isRepeat?: true;
}

/** Types of events that report when something happened; the others report the current value. */
const TIMED: readonly StreamEvent['type'][] = ['state-transition', 'cost-update', 'issue-status'];

/** Filter of a client's stream; null = everything. Heartbeats pass every filter, for they keep the connection open. */
export interface StreamFilter {
  repo: { tenantId: number; slug: string } | null;
  types: readonly string[] | null;
}

/** A client for which more than this waits when the next events come is cut; it may resume where it was. */
const MAX_WAITING_OCTETS = 1024 * 1024;
/**
 * After a round of writes this many times its duration is rest, at most so long: what comes meanwhile leaves in one.
 */
const REST_FACTOR = 4;
const MAX_REST_MS = 50;

export interface Client {
  response: ServerResponse;
  filter: StreamFilter;
  /** It has everything up to this id. */
  after: number;
}

/**
 * Writes frames to all clients. The cost is one write per client, whatever its size. So a round is followed by a rest
 * in proportion to what it took: few clients get each event at once, many get several events in one write.
 */
export class Broadcast {
  readonly #clients = new Map<Client, string>();
  readonly #ended = new AbortController();
  #pending: (Frame | null)[] = [];
  #isWriting = false;

  get size(): number {
    return this.#clients.size;
  }

  add(client: Client): void {
    this.#clients.set(client, keyOf(client.filter));
  }

  remove(client: Client): void {
    this.#clients.delete(client);
  }

  /** Moves a client to another place in the stream: it gets this text now, and later what comes after that id. */
  move(client: Client, after: number, text: string): void {
    if (!this.#clients.has(client)) return;
    client.after = after;
    push(client, Buffer.from(text));
  }

  /** Null = frames are missing here, and clients are notified. */
  send(frames: readonly (Frame | null)[]): void {
    this.#pending.push(...frames);
    if (!this.#isWriting) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isWriting = true;
    while (this.#pending.length > 0 && !this.#ended.signal.aborted) {
      const frames = this.#pending;
      this.#pending = [];
      const began = performance.now();
      this.#write(frames);
      // Node holds writes back until here, and they are what costs.
      await new Promise<void>((resolve) => process.nextTick(resolve));
      const restMs = Math.min((performance.now() - began) * REST_FACTOR, MAX_REST_MS);
      if (restMs >= 1) await sleep(restMs, this.#ended.signal);
    }
    this.#isWriting = false;
  }

  #write(frames: readonly (Frame | null)[]): void {
    const first = frames.find((frame) => frame !== null)?.id ?? Number.POSITIVE_INFINITY;
    const shared = new Map<string, Buffer>();
    for (const [client, key] of this.#clients) {
      let bytes = client.after < first ? shared.get(key) : encode(frames, client);
      if (bytes === undefined) {
        bytes = encode(frames, client);
        shared.set(key, bytes);
      }
      if (bytes.length > 0) push(client, bytes);
    }
  }

  /** Ends all streams: what waits is sent, then their streams end. */
  end(): void {
    this.#ended.abort();
    this.#write(this.#pending.splice(0));
    for (const { response } of this.#clients.keys()) response.end(': closing\n\n');
  }
}

function encode(frames: readonly (Frame | null)[], { filter, after }: Client): Buffer {
  let text = '';
  for (const frame of frames) {
    if (frame === null) text += GAP;
    else if (frame.isRepeat) text += repeatedFor(frame, after);
    else if (frame.id > after && passes(filter, frame)) text += frame.text;
  }
  return Buffer.from(text);
}

/**
 * Notifies a client of missing events between the last one it has and the next; a comment, which strict clients ignore.
 */
export const GAP = ': gap\n\n';

/** Looked at before the write, so that one great batch cuts no client that had taken all before it. */
function push({ response }: Client, bytes: Buffer): void {
  // The connection, because a response that waits behind another one of it has nothing else to be closed by.
  if (response.writableLength > MAX_WAITING_OCTETS) response.req.socket.destroy();
  else response.write(bytes);
}

/** @param uptime of the process that delivers it, in seconds. */
export function frameOf({ id, tenantId, type, data, at }: StreamEvent, uptime: number): Frame {
  const payload =
    type === 'heartbeat' ? { timestamp: at, uptime } : { ...data, ...(TIMED.includes(type) && { timestamp: at }) };
  const repo = typeof data.repo === 'string' ? data.repo.toLowerCase() : null;
  return { id, type, tenantId, repo, text: `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(payload)}\n\n` };
}

/** The text of a repeated heartbeat for a client that has everything up to `after`, here or from another replica. */
const repeatedFor = ({ id, text }: Frame, after: number): string =>
  text.replace(/^id: \d+/, `id: ${Math.max(id, after)}`);

export const passes = ({ repo, types }: StreamFilter, frame: Frame): boolean =>
  frame.type === 'heartbeat' ||
  ((repo === null || (frame.repo === repo.slug && frame.tenantId === repo.tenantId)) &&
    (types === null || types.includes(frame.type)));

/** Equal for filters that let the same frames pass. */
export const keyOf = ({ repo, types }: StreamFilter): string =>
  JSON.stringify([repo && [repo.tenantId, repo.slug], types && [...new Set(types)].sort()]);

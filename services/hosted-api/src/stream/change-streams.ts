import type { ServerResponse } from 'node:http';
import { AppError } from '@pipeline/domain';
import { StreamLimit, type StreamLimits } from '@pipeline/http';
import { type Logger, type LoopMetrics, type Periodic, runPeriodically, sleep } from '@pipeline/runtime';
import type { NotifiedTenants, OrgScope } from '@pipeline/store';

/** Each visible page holds one; a user has few of them, a process a bounded number of sockets. */
const LIMITS: StreamLimits = { perCredential: 20, inAll: 2_000 };
const CHANGED = 'event: changed\ndata: {}\n\n';
const ALIVE = ': alive\n\n';
/** Changes of this time after a message are one message. */
const REST_MS = 1_000;
const CHECK_MS = 30_000;

interface Stream {
  response: ServerResponse;
  /** Checks session and membership again. @throws AppError when one of them has ended. */
  recheck: () => Promise<unknown>;
}

interface NewStream extends Stream {
  /** Scope that the user may read: only a check of a membership creates one. */
  scope: OrgScope;
  /** The user, for the limit. */
  key: string;
  /** Calls its argument once when the connection has closed, immediately if it already has. */
  onClose(work: () => void): void;
}

/**
 * Notifies open pages that something in their organisation has changed. A message has no content: the page reads what
 * it shows again, with the rights that the user has then. So the stream needs neither the events nor their order.
 */
export class ChangeStreams {
  readonly #ofTenant = new Map<number, Set<Stream>>();
  readonly #limit = new StreamLimit(LIMITS);
  /** Tenants that were notified less than REST_MS ago; true = there are changes since. */
  readonly #resting = new Map<number, boolean>();
  readonly #closing = new AbortController();
  /** Ends streams without a right, and sends a sign of life to the others; a proxy would close silent ones. */
  readonly loop: Periodic;

  constructor({ log, metrics }: { log: Logger; metrics?: LoopMetrics }) {
    const options = { name: 'change-streams', everyMs: CHECK_MS, log, ...(metrics && { metrics }) };
    this.loop = runPeriodically(() => this.#check(), options);
  }

  /**
   * Follows the organisation of the scope until the connection closes.
   * @throws AnswerError RATE_LIMITED for too many streams of a user, AppError SSE_UNAVAILABLE for too many in all.
   */
  async open({ scope, key, onClose, ...stream }: NewStream): Promise<void> {
    if (this.#closing.signal.aborted) throw new AppError('SSE_UNAVAILABLE', 'The service is stopping');
    const release = this.#limit.take(key);
    onClose(release);
    const streams = this.#ofTenant.get(scope.tenantId) ?? new Set();
    this.#ofTenant.set(scope.tenantId, streams.add(stream));
    stream.response.write(ALIVE);
    await new Promise<void>((resolve) => {
      onClose(() => {
        streams.delete(stream);
        if (streams.size === 0) this.#ofTenant.delete(scope.tenantId);
        resolve();
      });
    });
  }

  /** True while a tenant that was notified less than a second ago waits for its next notification. */
  get isResting(): boolean {
    return this.#resting.size > 0;
  }

  /** Notifies the streams of these tenants; null = of all. */
  changed(tenants: NotifiedTenants): void {
    for (const tenantId of tenants ?? this.#ofTenant.keys()) {
      if (!this.#ofTenant.has(tenantId)) continue;
      if (this.#resting.has(tenantId)) this.#resting.set(tenantId, true);
      else void this.#notify(tenantId);
    }
  }

  async #notify(tenantId: number): Promise<void> {
    do {
      this.#resting.set(tenantId, false);
      for (const { response } of this.#ofTenant.get(tenantId) ?? []) send(response, CHANGED);
      await sleep(REST_MS, this.#closing.signal);
    } while (this.#resting.get(tenantId) === true && !this.#closing.signal.aborted);
    this.#resting.delete(tenantId);
  }

  async #check(): Promise<void> {
    for (const stream of [...this.#ofTenant.values()].flatMap((streams) => [...streams])) {
      const hasEnded = await stream.recheck().then(() => false, isRefusal);
      if (hasEnded) stream.response.end();
      else send(stream.response, ALIVE);
    }
  }

  /** Ends all streams; none is opened any more. */
  close(): void {
    this.#closing.abort();
    for (const streams of this.#ofTenant.values()) for (const { response } of streams) response.end();
  }
}

/** A page that has not read the last message needs no other one. */
function send(response: ServerResponse, text: string): void {
  if (response.writableLength === 0) response.write(text);
}

/** While the store is away no rights can be checked: the stream stays, and has nothing to report. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError && ['AUTH_REQUIRED', 'AUTH_FAILED', 'NOT_FOUND'].includes(error.code);

import type { Logger } from '@pipeline/runtime';
import { sleep } from '@pipeline/runtime/sleep';
import pg from 'pg';
import { preparedName } from './statement-client.ts';

export interface DirectConnectionOptions {
  /** Must reach the server itself, not a pooler: LISTEN and the leader lock are bound to the session. */
  directUrl: string;
  applicationName: string;
  log: Logger;
  /** Name of this process beside the leader lock that it holds; default applicationName. */
  holder?: string | undefined;
  /** Milliseconds, monotonic; default `performance.now`. */
  clock?: (() => number) | undefined;
  /** Default the runtime's; tests end waits themselves. */
  sleep?: typeof sleep | undefined;
}

/** Runs the statements of one connection one after the other: pg accepts no second one while the first is in flight. */
export class Session {
  readonly #client: pg.Client;
  readonly #clock: () => number;
  #last: Promise<unknown> = Promise.resolve();
  #isOpen = true;
  /** Time at which the last statement that the server answered was sent. */
  #confirmedAt: number;

  /** @param clock milliseconds, monotonic. */
  constructor(client: pg.Client, clock: () => number) {
    this.#client = client;
    this.#clock = clock;
    this.#confirmedAt = clock();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  closed(): void {
    this.#isOpen = false;
  }

  /**
   * False when the server may have ended the session because it received nothing for IDLE_SESSION_TIMEOUT_MS. The
   * server counts from a later moment than this side does, so this side notices first, even after it was frozen.
   */
  isConfirmed(): boolean {
    return this.#clock() - this.#confirmedAt < IDLE_SESSION_TIMEOUT_MS;
  }

  /** The handler also gets whether this session sent the notification. */
  onNotification(handler: (channel: string, payload: string, isOwn: boolean) => void): void {
    // The types of pg omit the process id of the backend.
    const client = this.#client as pg.Client & { processID: number | null };
    client.on('notification', ({ channel, payload, processId }) =>
      handler(channel, payload ?? '', processId === client.processID),
    );
  }

  query<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<pg.QueryResult<R>> {
    const result = this.#last.then(async () => {
      const sentAt = this.#clock();
      const answer = await this.#client.query<R>({ name: preparedName(text), text, values });
      this.#confirmedAt = sentAt;
      return answer;
    });
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/**
 * Callbacks for the connection's life. `up` may run statements; if it throws, the connection is closed and opened
 * again.
 */
interface SessionHooks {
  up(session: Session): Promise<void>;
  /** The session ended, and everything bound to it. */
  down(): void;
}

const BACKOFF_MS = { first: 100, most: 5_000 };
/** A server that does not answer is detected within the sum of both. */
const HEARTBEAT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * The server ends a session, and frees its leader lock, that sends nothing for this long: its process is frozen, or
 * the network is cut. Three heartbeats.
 */
export const IDLE_SESSION_TIMEOUT_MS = 15_000;

/**
 * A frozen process reads nothing either. `idle_session_timeout` does not apply while the server is blocked sending
 * notifications to it; `tcp_user_timeout` ends the session after the same time.
 */
const SESSION_SETTINGS = `set idle_session_timeout = ${IDLE_SESSION_TIMEOUT_MS}; set tcp_user_timeout = ${IDLE_SESSION_TIMEOUT_MS}`;

/**
 * Keeps one session open: connecting -(up)-> in use -(end, error, silent heartbeat)-> down -(backoff)-> connecting,
 * until `close`.
 */
export class DirectConnection {
  readonly #options: DirectConnectionOptions;
  readonly #hooks: SessionHooks;
  readonly #sleep: typeof sleep;
  readonly #closing = new AbortController();
  #session: Session | null = null;
  #loop: Promise<void> | undefined;

  constructor(options: DirectConnectionOptions, hooks: SessionHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#sleep = options.sleep ?? sleep;
  }

  /** The session, while it is open. */
  get session(): Session | null {
    return this.#session;
  }

  /** Connects in the background, now and whenever the session is lost. */
  start(): void {
    this.#loop ??= this.#keepUp();
  }

  /** Ends the session; no timer stays armed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
  }

  async #keepUp(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#closing;
    let backoff = BACKOFF_MS.first;
    while (!signal.aborted) {
      try {
        await this.#live(() => {
          backoff = BACKOFF_MS.first;
        });
      } catch (error) {
        log.warn('direct connection to the store lost', { error, retryInMs: backoff });
      }
      if (!(await this.#sleep(backoff * (0.5 + Math.random() / 2), signal))) break;
      backoff = Math.min(backoff * 2, BACKOFF_MS.most);
    }
  }

  /** One session from connecting to its end. @throws what ended it, unless we closed it. */
  async #live(onUp: () => void): Promise<void> {
    const { directUrl, applicationName, log } = this.#options;
    const client = new pg.Client({
      connectionString: directUrl,
      application_name: applicationName,
      connectionTimeoutMillis: 5_000,
      query_timeout: STATEMENT_TIMEOUT_MS,
      keepAlive: true,
    });
    let cause: unknown = new Error('the server ended the session');
    const ended = new Promise<void>((resolve) => {
      client.on('error', (error) => {
        cause = error;
        resolve();
      });
      client.on('end', resolve);
    });
    const stop = new AbortController();
    try {
      await client.connect();
      const session = new Session(client, this.#options.clock ?? (() => performance.now()));
      await client.query(SESSION_SETTINGS);
      this.#session = session;
      await this.#hooks.up(session);
      log.info('direct connection to the store is up');
      onUp();
      await Promise.race([ended, this.#heartbeat(session, stop.signal)]);
    } finally {
      this.#session?.closed();
      this.#session = null;
      stop.abort();
      await Promise.race([client.end().catch(() => undefined), ended]);
      this.#hooks.down();
    }
    if (!this.#closing.signal.aborted) throw cause;
  }

  /** Resolves when this connection is closed. @throws when the server stays silent. */
  async #heartbeat(session: Session, ended: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([ended, this.#closing.signal]);
    while (await this.#sleep(HEARTBEAT_MS, signal)) await session.query('select 1');
  }
}

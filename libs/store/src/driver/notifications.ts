import { sleep } from '@pipeline/runtime/sleep';
import { DirectConnection, type DirectConnectionOptions, type Session } from './direct-connection.ts';
import { Leadership, type Term } from './leadership.ts';
import { markPrepared } from './statement-client.ts';

/** Tenants whose rows changed; null = any tenant. */
export type NotifiedTenants = readonly number[] | null;

const WINDOW_MS = 5;

/** `svc_inbox`: webhook deliveries have arrived. `svc_cache`: what the slower loops and the lists show has changed. */
const CHANNELS = ['svc_tasks', 'svc_projections', 'svc_stream', 'svc_inbox', 'svc_cache', 'svc_settings'] as const;
type Channel = (typeof CHANNELS)[number];

/**
 * Called when rows of these tenants changed; null = any row may have changed, re-read everything.
 * @param isOwn this process sent the notification.
 */
export type NotificationHandler = (tenants: NotifiedTenants, isOwn: boolean) => void;

/** NOTIFY refuses 8,000 bytes and more. Beyond this the notification lists no tenant and means all. */
const MAX_PAYLOAD = 7_900;

const NOTIFY = markPrepared(
  'notify',
  'select pg_notify(channel, payload) from unnest($1::text[], $2::text[]) as n (channel, payload)',
);

/** Notifications between processes by LISTEN and NOTIFY, and the leader lock, on one dedicated session. */
export class Notifications {
  readonly #options: DirectConnectionOptions;
  readonly #connection: DirectConnection;
  readonly #leadership: Leadership;
  readonly #handlers: ReadonlyMap<Channel, Set<NotificationHandler>> = new Map(
    CHANNELS.map((name) => [name, new Set()]),
  );
  readonly #coalesced: ReadonlyMap<Channel, CoalescedNotifications>;
  readonly #listening = new Set<Channel>();
  /** Channels with notifications that had no connection: each gets one for all tenants after the reconnect. */
  readonly #unsent = new Set<Channel>();
  /** Payloads of this turn by channel. */
  readonly #outgoing = new Map<Channel, string>();
  readonly #inFlight = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: DirectConnectionOptions) {
    this.#options = options;
    this.#leadership = new Leadership(options.holder ?? options.applicationName);
    this.#connection = new DirectConnection(options, { up: (session) => this.#up(session), down: () => this.#down() });
    const coalesced = (channel: Channel) =>
      new CoalescedNotifications((tenants) => this.#send(channel, tenants), this.#closing.signal, options.sleep);
    this.#coalesced = new Map(CHANNELS.map((channel) => [channel, coalesced(channel)]));
  }

  /** Connects in the background; the process does not wait for the store. */
  start(): void {
    this.#connection.start();
  }

  /**
   * Notifies all processes, this one included, that there are new rows to read. Call it after the commit. A single
   * notification is sent immediately, those of the next 5 ms as one. Without a connection they are collected. Without
   * ids: null.
   */
  notify(channel: Channel, tenantIds: NotifiedTenants = null): void {
    if (!this.#closing.signal.aborted) this.#coalesced.get(channel)?.notify(tenantIds);
  }

  /**
   * Calls the handler on each notification, and with null when listening begins, the first time and after each
   * reconnect, because a notification may have been missed. @returns a function that removes the handler.
   */
  on(channel: Channel, handler: NotificationHandler): () => void {
    const handlers = this.#of(channel);
    handlers.add(handler);
    const { session } = this.#connection;
    if (this.#listening.has(channel)) this.#call(() => handler(null, false), channel);
    // A LISTEN fails only together with its connection, and the next one starts with it again.
    else if (session) this.#track(this.#listen(session, channel).catch(() => undefined));
    return () => {
      handlers.delete(handler);
    };
  }

  get isLeader(): boolean {
    return this.#leadership.isHeld;
  }

  /**
   * Tries to become the leader. A term ends with the connection. The server ends the session of a frozen process, so
   * another one can lead after IDLE_SESSION_TIMEOUT_MS.
   * @returns the term of this process; null while another process leads or the store is not reachable.
   */
  lead(): Promise<Term | null> {
    return this.#leadership.lead(this.#connection.session);
  }

  /** Sends collected notifications, ends the leadership, disconnects. No timer stays armed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#coalesced.values()].map((channel) => channel.settled()));
    await Promise.all(this.#inFlight);
    await this.#connection.close();
  }

  async #up(session: Session): Promise<void> {
    session.onNotification((channel, payload, isOwn) => this.#deliver(channel as Channel, payload, isOwn));
    for (const channel of CHANNELS) if (this.#of(channel).size > 0) await this.#listen(session, channel);
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    for (const channel of unsent) this.#send(channel, null);
  }

  #down(): void {
    this.#listening.clear();
    this.#leadership.lose();
  }

  async #listen(session: Session, channel: Channel): Promise<void> {
    await session.query(`listen ${channel}`);
    this.#listening.add(channel);
    for (const handler of this.#of(channel)) this.#call(() => handler(null, false), channel);
  }

  #deliver(channel: Channel, payload: string, isOwn: boolean): void {
    const tenants = payload === '' ? null : payload.split(',').map(Number);
    for (const handler of this.#of(channel)) this.#call(() => handler(tenants, isOwn), channel);
  }

  #call(handle: () => void, channel: Channel): void {
    try {
      handle();
    } catch (error) {
      this.#options.log.warn('a notification handler failed', { channel, error });
    }
  }

  #send(channel: Channel, tenants: NotifiedTenants): void {
    const { session } = this.#connection;
    if (!session) {
      this.#unsent.add(channel);
      return;
    }
    const names = tenants?.join(',') ?? '';
    const isFirst = this.#outgoing.size === 0;
    const isListed = !this.#outgoing.has(channel) && names.length <= MAX_PAYLOAD;
    this.#outgoing.set(channel, isListed ? names : '');
    if (isFirst) this.#track(Promise.resolve().then(() => this.#sendOutgoing(session)));
  }

  /** A commit notifies several channels: one statement, as each is a transaction that wakes every listener. */
  async #sendOutgoing(session: Session): Promise<void> {
    const channels = [...this.#outgoing.keys()];
    const payloads = [...this.#outgoing.values()];
    this.#outgoing.clear();
    try {
      await session.query(NOTIFY, [channels, payloads]);
    } catch (error) {
      for (const channel of channels) this.#unsent.add(channel);
      const channel = channels.join(', ');
      this.#options.log.warn('a notification was not sent; it is retried on the next connection', { channel, error });
    }
  }

  #track(work: Promise<void>): void {
    this.#inFlight.add(work);
    void work.finally(() => this.#inFlight.delete(work));
  }

  #of(channel: Channel): Set<NotificationHandler> {
    const handlers = this.#handlers.get(channel);
    if (!handlers) throw new TypeError(`${channel} is not a notification channel`);
    return handlers;
  }
}

/**
 * Coalesces the notifications of one channel. Idle -(notification: sent immediately)-> window of 5 ms that collects
 * notifications -(some collected: sent as one)-> window, -(none)-> idle. So a single one is not delayed, and a burst is
 * 200 a second.
 */
class CoalescedNotifications {
  readonly #send: (tenants: NotifiedTenants) => void;
  readonly #signal: AbortSignal;
  readonly #sleep: typeof sleep;
  #gathered: Set<number> | 'all' | undefined;
  #window: Promise<void> | undefined;

  constructor(send: (tenants: NotifiedTenants) => void, signal: AbortSignal, wait = sleep) {
    this.#send = send;
    this.#signal = signal;
    this.#sleep = wait;
  }

  notify(tenants: NotifiedTenants): void {
    if (this.#window) {
      this.#gather(tenants);
      return;
    }
    this.#send(tenants);
    this.#window = this.#closeWindow();
  }

  /** The end of the open window; resolves immediately when the signal is aborted. */
  settled(): Promise<void> {
    return this.#window ?? Promise.resolve();
  }

  #gather(tenants: NotifiedTenants): void {
    if (tenants === null || this.#gathered === 'all') {
      this.#gathered = 'all';
      return;
    }
    this.#gathered ??= new Set();
    for (const tenantId of tenants) this.#gathered.add(tenantId);
  }

  async #closeWindow(): Promise<void> {
    do {
      await this.#sleep(WINDOW_MS, this.#signal);
      const gathered = this.#gathered;
      if (gathered === undefined) break;
      this.#gathered = undefined;
      this.#send(gathered === 'all' ? null : [...gathered]);
    } while (!this.#signal.aborted);
    this.#window = undefined;
  }
}

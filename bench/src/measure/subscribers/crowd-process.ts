import { sleep } from '@pipeline/runtime';
import pg from 'pg';
import { type Subscriber, subscribe } from './subscriber.ts';
import { type Count, nowUs, type Order, type Seen, type Stamped, seenOf, type Target, Watcher } from './tally.ts';

/** So many connect at a time; a listening socket keeps some hundreds waiting. */
const AT_ONCE = 100;
/** So many read every event; the rest count them, which costs a hundredth. */
const WATCHING = 100;
const POLL_MS = 2;

/** The side of the load: many connections to one server, in a process that does nothing else. */
export class CrowdProcess {
  readonly #target: Target;
  readonly #room = Buffer.allocUnsafe(256 * 1024);
  #subscribers: Subscriber[] = [];
  #latencies: number[] = [];
  #problem: Error | null = null;

  constructor(target: Target) {
    this.#target = target;
  }

  /** @returns what the order asks for. @throws Error for a stream that broke, or that lost or repeated an event. */
  async obey(order: Order): Promise<Count | Seen | null> {
    const answer = await this.#do(order);
    if (this.#problem) throw this.#problem;
    return answer;
  }

  async #do(order: Order): Promise<Count | Seen | null> {
    switch (order.do) {
      case 'resize':
        await this.#resize(order.count);
        return null;
      case 'listen':
        await this.#listen(order.databaseUrl, order.channel);
        return null;
      case 'begin':
        this.#latencies.length = 0;
        for (const subscriber of this.#subscribers) subscriber.messages = 0;
        return null;
      case 'count':
        return this.#count();
      case 'settle':
        return this.#settle(order.events, order.withinMs);
      case 'read on':
        await this.#readOn(order.withinMs);
        return null;
    }
  }

  async #resize(count: number): Promise<void> {
    for (const { socket } of this.#subscribers.splice(count)) socket.removeAllListeners('close').destroy();
    while (this.#subscribers.length < count) {
      const more = Math.min(AT_ONCE, count - this.#subscribers.length);
      const from = this.#subscribers.length;
      const opening = Array.from({ length: more }, (_, index) => this.#open(from + index < WATCHING));
      this.#subscribers.push(...(await Promise.all(opening)));
    }
  }

  async #open(watches: boolean): Promise<Subscriber> {
    const watcher = new Watcher(this.#latencies);
    const read = watches
      ? (bytes: Buffer) => this.#watch(() => watcher.read(bytes.toString('latin1')))
      : () => undefined;
    const subscriber = await subscribe(this.#target, this.#room, read);
    const broke = () => {
      if (!this.#target.isStalled) this.#problem ??= new Error('the server closed a stream');
    };
    subscriber.socket.on('error', broke).on('close', broke);
    return subscriber;
  }

  #watch(see: () => void): void {
    try {
      see();
    } catch (error) {
      this.#problem ??= error as Error;
    }
  }

  /** One more subscriber, by LISTEN instead of HTTP. */
  async #listen(databaseUrl: string, channel: string): Promise<void> {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    const watcher = new Watcher(this.#latencies);
    client.on('notification', ({ payload }) => {
      this.#watch(() => watcher.see(JSON.parse(payload ?? '{}') as Stamped));
    });
    await client.query(`listen ${channel}`);
  }

  #count(): Count {
    return { messages: this.#subscribers.reduce((sum, { messages }) => sum + messages, 0), atUs: nowUs() };
  }

  /** Waits until every connection has all; then says what the watchers saw. */
  async #settle(events: number, withinMs: number): Promise<Seen> {
    const began = performance.now();
    const isBehind = () =>
      this.#subscribers.some(({ messages }) => messages < events) ||
      (this.#subscribers.length === 0 && this.#latencies.length < events);
    while (isBehind() && !this.#problem) {
      if (performance.now() - began > withinMs)
        throw new Error(`not all of ${events} events came: ${this.#missing(events)}`);
      await sleep(POLL_MS);
    }
    return seenOf(this.#latencies);
  }

  #missing(events: number): string {
    const behind = this.#subscribers.filter(({ messages }) => messages < events);
    return `${behind.length} of ${this.#subscribers.length} subscribers have fewer, one of them ${behind[0]?.messages}`;
  }

  /** Those that read nothing read what is left. @throws Error when the server has not cut them. */
  async #readOn(withinMs: number): Promise<void> {
    const began = performance.now();
    for (const { socket } of this.#subscribers) {
      while (!socket.destroyed) {
        // Each read stops it again.
        socket.resume();
        if (performance.now() - began > withinMs) throw new Error('a subscriber that read nothing was not cut');
        await sleep(POLL_MS);
      }
    }
  }
}

import { sleep } from '@pipeline/runtime';

const RECONNECT_MS = 200;

/** A reader of the event stream of a monitor that reconnects as a browser does, with the id of the last event. */
export class StreamClient {
  /** Events in the order of their arrival, heartbeats left out. */
  readonly events: { id: number; type: string; at: number }[] = [];
  connections = 0;
  readonly #url: string;
  readonly #stopping = new AbortController();
  readonly #reading: Promise<void>;
  #last: string | null = null;

  constructor(monitorUrl: string) {
    this.#url = `${monitorUrl}/api/events`;
    this.#reading = this.#keepReading();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
  }

  async #keepReading(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#read().catch(() => undefined);
      await sleep(RECONNECT_MS, signal);
    }
  }

  async #read(): Promise<void> {
    const headers = this.#last === null ? {} : { 'last-event-id': this.#last };
    const response = await fetch(this.#url, { headers, signal: this.#stopping.signal });
    if (!response.ok || response.body === null) return;
    this.connections += 1;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const messages = (text + chunk).split('\n\n');
      text = messages.pop() ?? '';
      for (const message of messages) this.#take(message);
    }
  }

  #take(message: string): void {
    const id = /^id: (\d+)$/m.exec(message)?.[1];
    const type = /^event: (.*)$/m.exec(message)?.[1];
    if (id === undefined || type === undefined) return;
    this.#last = id;
    if (type !== 'heartbeat') this.events.push({ id: Number(id), type, at: performance.now() });
  }
}

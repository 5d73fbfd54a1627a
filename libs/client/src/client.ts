import type { TokenSource } from './credentials.ts';
import { type EventOptions, type StreamEvent, streamEvents } from './events.ts';
import { HOSTED_OPERATIONS, MONITOR_OPERATIONS } from './operations.generated.ts';
import { allItems } from './pages.ts';
import { Transport, type TransportOptions } from './transport.ts';
import type { CallOptions, Calls, ItemOf, Operations, Paged } from './types.ts';

/** What every client has beside a method for each operation. */
export interface Lists<O extends Operations<O>> {
  /** Reads a list to its end: `for await (const issue of client.all('searchIssues', { query: { state: 'open' } })) …`. */
  all<K extends Paged<O>>(
    operation: K,
    input?: Omit<O[K], 'result'>,
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<O[K]>>;
}

export type HostedClient<O extends Operations<O>> = Calls<O> & Lists<O>;

export interface MonitorEvents {
  /** The live event stream, opened again where it breaks. */
  events(options?: EventOptions): AsyncGenerator<StreamEvent>;
}

export type MonitorClient<O extends Operations<O>> = Calls<O> & Lists<O> & MonitorEvents;

export interface HostedOptions extends TransportOptions {
  /** An access token (`mcp_at_…`), a worker token (`wrk_at_…`), or where to get one; see `clientCredentials`. */
  token?: string | TokenSource;
}

export interface MonitorOptions extends TransportOptions {
  /** Of an operator; a monitor without authentication needs none. */
  username?: string;
  password?: string;
}

type Input = Parameters<Transport['call']>[1];

/** A method for each operation, made when it is first used. */
function callsOf(operations: Readonly<Record<string, string>>, transport: Transport, more: object): never {
  const call = (id: string, input?: Input, options?: CallOptions) =>
    transport.call(operations[id] ?? '', input, options);
  const all = (id: string, input: Input = {}, options?: CallOptions) =>
    allItems((query) => call(id, { ...input, query }, options), input.query ?? {});
  const methods = Object.fromEntries(
    Object.keys(operations).map((id) => [id, (input?: Input, options?: CallOptions) => call(id, input, options)]),
  );
  return { ...methods, all, ...more } as never;
}

/** A client of the hosted API. No request is sent. */
export function createHostedClient<O extends Operations<O>>({ token, ...options }: HostedOptions): HostedClient<O> {
  const transport = new Transport(options, async (refused) => {
    if (token === undefined) return {};
    return { authorization: `Bearer ${typeof token === 'string' ? token : await token(refused)}` };
  });
  return callsOf(HOSTED_OPERATIONS, transport, {});
}

/** A client of the monitor. No request is sent. */
export function createMonitorClient<O extends Operations<O>>(options: MonitorOptions): MonitorClient<O> {
  const { username, password, ...rest } = options;
  const basic = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))}`;
  const transport = new Transport(rest, () => (username === undefined ? {} : { authorization: basic }));
  return callsOf(MONITOR_OPERATIONS, transport, { events: (of?: EventOptions) => streamEvents(transport, of) });
}

import type { TokenSource } from './credentials.ts';
import { type EventOptions, type StreamEvent, streamEvents } from './events.ts';
import { HOSTED_OPERATIONS, MONITOR_OPERATIONS } from './operations.generated.ts';
import { allItems } from './pages.ts';
import { callTool } from './tools.ts';
import { type Input, Transport, type TransportOptions } from './transport.ts';
import type { CallOptions, Calls, ItemOf, Operations, Paged } from './types.ts';
import { type WatchOptions, watchOperation } from './watch.ts';

/** Methods of every client beside those of its operations. */
export interface Lists<O extends Operations<O>> {
  /** Reads a list to its end: `for await (const issue of client.all('searchIssues', { query: { state: 'open' } })) …`. */
  all<K extends Paged<O>>(
    operation: K,
    input?: Omit<O[K], 'result'>,
    options?: CallOptions,
  ): AsyncGenerator<ItemOf<O[K]>>;
}

export interface HostedReads<O extends Operations<O>> {
  /** Reads repeatedly: `for await (const page of client.watch('listIssues', { query: { repo } })) …` yields each change. */
  watch<K extends keyof O>(
    operation: K,
    input?: Omit<O[K], 'result'>,
    options?: WatchOptions,
  ): AsyncGenerator<O[K]['result']>;
  /** Calls a tool of the MCP endpoint and returns its structured content. @throws ToolError when the tool refuses. */
  callTool(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<unknown>;
}

export type HostedClient<O extends Operations<O>> = Calls<O> & Lists<O> & HostedReads<O>;

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
  /** Name of an operator; a monitor without authentication needs none. */
  username?: string;
  password?: string;
}

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
  const operations: Readonly<Record<string, string>> = HOSTED_OPERATIONS;
  return callsOf(operations, transport, {
    watch: (id: string, input: Input = {}, of?: WatchOptions) =>
      watchOperation(transport, operations[id] ?? '', input, of),
    callTool: (name: string, args: Record<string, unknown> = {}, of?: CallOptions) =>
      callTool(transport, name, args, of),
  });
}

/** A client of the monitor. No request is sent. */
export function createMonitorClient<O extends Operations<O>>(options: MonitorOptions): MonitorClient<O> {
  const { username, password, ...rest } = options;
  const basic = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${username}:${password}`)))}`;
  const transport = new Transport(rest, () => (username === undefined ? {} : { authorization: basic }));
  return callsOf(MONITOR_OPERATIONS, transport, { events: (of?: EventOptions) => streamEvents(transport, of) });
}

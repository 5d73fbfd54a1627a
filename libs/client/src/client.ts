import { sleep } from '@pipeline/runtime/sleep';
import { PipelineError } from './errors.ts';
import { type EventOptions, type StreamEvent, streamEvents } from './events.ts';
import { HOSTED_OPERATIONS, MONITOR_OPERATIONS } from './operations.generated.ts';
import { callTool } from './tools.ts';
import { type Input, Transport, type TransportOptions } from './transport.ts';
import type { CallOptions, Calls, ItemOf, Operations, Paged } from './types.ts';

export interface WatchOptions {
  /** Milliseconds between two requests; default 5,000. */
  everyMs?: number;
  signal?: AbortSignal;
}

const DEFAULT_MS = 5_000;

interface Answer {
  items: unknown[];
  /** Page of a list by offset. */
  page?: { offset: number; hasMore: boolean };
  /** Next cursor of a list by cursor; null = the last page. */
  next?: string | null;
}

type Query = Record<string, unknown>;

/** An access token of the hosted API. @param fresh the last one was refused. */
export type TokenSource = (fresh: boolean) => Promise<string> | string;

export interface ClientCredentials {
  /** Address of the hosted API. */
  url: string;
  clientId: string;
  clientSecret: string;
  fetch?: typeof fetch;
}

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

/**
 * Gets access tokens for a program without a user. A token is kept for four fifths of its lifetime; concurrent
 * calls share a request.
 */
export function clientCredentials({
  url,
  clientId,
  clientSecret,
  fetch: send = fetch,
}: ClientCredentials): TokenSource {
  let current: { token: Promise<string>; until: number } | null = null;
  const request = async (): Promise<string> => {
    const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    const response = await send(new URL('/oauth/token', url), { method: 'POST', body: new URLSearchParams(form) });
    const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
    if (!response.ok || typeof body?.access_token !== 'string') {
      const { error, error_description: why } = body ?? {};
      throw new PipelineError(response, { code: error, error: `no access token: ${why ?? error ?? response.status}` });
    }
    if (current) current.until = Date.now() + Number(body.expires_in) * 800;
    return body.access_token;
  };
  return (fresh) => {
    if (current === null || fresh || Date.now() >= current.until) {
      current = { token: request(), until: Number.POSITIVE_INFINITY };
      current.token.catch(() => {
        current = null;
      });
    }
    return current.token;
  };
}

/**
 * Reads a list to its end, one page at a time, and yields its items. A list by offset may repeat or miss an item that
 * moves between two pages; one by cursor does not.
 */
async function* allItems(read: (query: Query) => Promise<unknown>, query: Query): AsyncGenerator<unknown> {
  for (let at: Query | null = {}; at !== null; ) {
    const answer = (await read({ ...query, ...at })) as Answer;
    yield* answer.items;
    at = nextPage(answer);
  }
}

function nextPage({ items, page, next }: Answer): Query | null {
  if (next) return { after: next };
  return page?.hasMore && items.length > 0 ? { offset: page.offset + items.length } : null;
}

/**
 * Reads a resource repeatedly until the signal aborts; yields its first body and each one that differs. Where the service
 * sends an ETag, an unchanged resource costs a 304 without a body.
 * @throws PipelineError as a call.
 */
async function* watchOperation(
  transport: Transport,
  operation: string,
  input: Input,
  { everyMs = DEFAULT_MS, signal }: WatchOptions = {},
): AsyncGenerator<unknown> {
  let tag: string | null = null;
  let last: string | null = null;
  while (!signal?.aborted) {
    const headers = tag === null ? {} : { 'if-none-match': tag };
    const response = await transport.request(operation, input, { headers, ...(signal && { signal }) });
    if (response.status !== 304) {
      const text = await response.text();
      tag = response.headers.get('etag');
      if (text !== last) yield JSON.parse(text);
      last = text;
    }
    if (!(await sleep(everyMs, signal))) return;
  }
}

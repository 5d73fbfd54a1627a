import { serverClock } from '../timing/server-clock.ts';
import { failureOf, unreachable } from './failure.ts';

/** Params, query and body of a request, whatever its route. */
export interface LooseInput {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

interface Options {
  signal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string>>;
  /** Gets the headers of a successful response. */
  onHeaders?: (headers: Headers) => void;
}

/**
 * Sends a request to the service of this origin.
 * @returns the body of the response.
 * @throws ApiFailure for an error response and for no response; AbortError after `signal`.
 */
export async function sendRequest(
  [method, path]: readonly [string, string],
  { params, query, body }: LooseInput,
  { signal, headers, onHeaders }: Options = {},
): Promise<unknown> {
  const response = await send(fillPath(path, params) + search(query), {
    method: method.toUpperCase(),
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) throw await failureOf(response);
  onHeaders?.(response.headers);
  return response.json();
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init);
    serverClock.observe(response.headers.get('date'));
    return response;
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw unreachable();
  }
}

/** Returns the path with its parameters percent-encoded. */
export const fillPath = (path: string, params: Record<string, unknown> = {}): string =>
  path.replace(/\{(\w+)\*?\}/g, (_, name: string) => encodeURIComponent(String(params[name] ?? '')));

function search(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

import { failureOf, unreachable } from '@pipeline/web/api/failure.ts';
import { serverClock } from '@pipeline/web/timing/server-clock.ts';
import { ROUTES } from './routes.generated.ts';
import { sessionExpired } from './session-state.ts';
import type { Input, Reply, RouteId } from './types.ts';

export type CallableId = RouteId & keyof typeof ROUTES;

interface LooseInput {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}

/**
 * Calls a route of the monitor.
 * @returns the body of the response.
 * @throws ApiFailure for an error response and for no response; AbortError after `signal`.
 */
export async function request<Id extends CallableId>(
  id: Id,
  input: Input<Id>,
  signal?: AbortSignal,
): Promise<Reply<Id>> {
  const [method, path] = ROUTES[id];
  const { params, query, body } = input as LooseInput;
  const response = await send(fillPath(path, params) + search(query), {
    method: method.toUpperCase(),
    headers: { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  if (!response.ok) {
    const failure = await failureOf(response);
    if (failure.status === 401 && id !== 'login') sessionExpired();
    throw failure;
  }
  return (await response.json()) as Reply<Id>;
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

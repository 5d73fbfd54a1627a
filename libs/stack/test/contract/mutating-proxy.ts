/** A proxy that breaks the contract in one place. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { matchRoute, type Surface } from '@pipeline/contract';

/** An answer on its way to the client. */
export interface Passing {
  status: number;
  headers: Headers;
  body: string;
}

/** One way to break the contract. */
export interface Mutant {
  name: string;
  /** operationIds, or `unknown`. */
  endpoints: readonly string[];
  /** Changes the request before it is sent to the service. */
  request?(
    headers: Headers,
    address: string,
    body: string,
  ): { headers?: Record<string, string>; address?: string; body?: string };
  /** @param sent the body of the request as the client sent it. */
  answer?(answer: Passing, address: string, sent: string): Passing | Promise<Passing>;
}

/** Headers that belong to one connection. */
const OF_CONNECTION = ['connection', 'content-length', 'content-encoding', 'transfer-encoding', 'host', 'keep-alive'];

export class MutatingProxy {
  /** Chosen per run. */
  mutant: Mutant | null = null;
  url = '';
  readonly #surface: Surface;
  readonly #upstream: () => string;
  readonly #server = createServer((request, response) => void this.#pass(request, response));

  constructor(surface: Surface, upstream: () => string) {
    this.#surface = surface;
    this.#upstream = upstream;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const mutant = this.#mutantOf(method, url);
    const given = new Headers(
      Object.entries(request.headers).flatMap(([k, v]) => (typeof v === 'string' ? [[k, v]] : [])),
    );
    const payload = await buffer(request);
    const sent = payload.toString('latin1');
    const changed = mutant?.request?.(given, url, sent) ?? {};
    for (const name of OF_CONNECTION) given.delete(name);
    for (const [name, value] of Object.entries(changed.headers ?? {})) given.set(name, value);
    const body = changed.body ?? payload;
    const upstream = await fetch(this.#upstream() + (changed.address ?? url), {
      method,
      headers: given,
      redirect: 'manual',
      ...(body.length > 0 && { body }),
    });
    const headers = new Headers(upstream.headers);
    for (const name of OF_CONNECTION) headers.delete(name);
    const whole = { status: upstream.status, headers, body: await upstream.text() };
    const answer = (await mutant?.answer?.(whole, url, sent)) ?? whole;
    // Each cookie has a line of its own.
    const cookies = answer.headers.getSetCookie();
    const lines = { ...Object.fromEntries(answer.headers), ...(cookies.length > 0 && { 'set-cookie': cookies }) };
    response.writeHead(answer.status, lines);
    response.end(answer.body);
  }

  #mutantOf(method: string, url: string): Mutant | null {
    const id = matchRoute(this.#surface.routes, method, url.split('?')[0] ?? '')?.id ?? 'unknown';
    return this.mutant?.endpoints.includes(id) ? this.mutant : null;
  }
}

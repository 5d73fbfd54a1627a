import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { AnyRoute } from '@pipeline/contract';
import type { Logger, LogLevel } from '@pipeline/runtime';
import type { Request, Response } from 'express';

const SENT_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;

/**
 * Requests in flight per connection. With pipelining, a response that waits behind another one gets no close event, so one
 * listener per connection notifies all of them.
 */
const underWay = new WeakMap<Socket, Set<() => void>>();

function requestsOn(socket: Socket): Set<() => void> {
  const known = underWay.get(socket);
  if (known) return known;
  const added = new Set<() => void>();
  underWay.set(socket, added);
  socket.once('close', () => {
    for (const end of [...added]) end();
  });
  return added;
}

/** State of one request across its stages. Expensive parts are created lazily. */
export class RequestScope {
  readonly request: Request;
  readonly response: Response;
  /** Request id of the caller if short and plain, otherwise a new one; returned as X-Request-Id. */
  readonly id: string;
  readonly begunAt = performance.now();
  /** Headers of every response of the request. */
  readonly headers: Record<string, string | readonly string[]>;
  route: AnyRoute | undefined;
  identityKey: string | undefined;
  readonly #log: Logger;
  #ownLog: Logger | undefined;
  #abort: AbortController | undefined;
  #isClosed = false;
  readonly #onClose: (() => void)[] = [];

  constructor(request: Request, response: Response, log: Logger, headers: Readonly<Record<string, string>>) {
    this.request = request;
    this.response = response;
    this.#log = log;
    const sent = request.headers['x-request-id'];
    this.id = typeof sent === 'string' && SENT_ID.test(sent) ? sent : randomUUID();
    this.headers = { 'x-request-id': this.id, ...headers };
    this.#watch();
  }

  #watch(): void {
    const { socket } = this.request;
    const requests = requestsOn(socket);
    const end = () => {
      if (this.#isClosed) return;
      this.#isClosed = true;
      requests.delete(end);
      for (const work of this.#onClose.splice(0)) work();
    };
    requests.add(end);
    this.response.once('close', end);
    if (socket.destroyed) end();
  }

  /** Runs `work` once when the answer is complete or its connection has closed; at once if that was before. */
  onClose(work: () => void): void {
    if (this.#isClosed) work();
    else this.#onClose.push(work);
  }

  get log(): Logger {
    this.#ownLog ??= this.#log.child({ requestId: this.id });
    return this.#ownLog;
  }

  /** Returns whether the log level is enabled, without creating `log`. */
  logs(level: LogLevel): boolean {
    return this.#log.isEnabled(level);
  }

  get signal(): AbortSignal {
    if (this.#abort) return this.#abort.signal;
    const abort = new AbortController();
    this.#abort = abort;
    this.onClose(() => {
      if (!this.response.writableFinished) abort.abort();
    });
    return abort.signal;
  }

  get address(): string {
    return this.request.ip ?? 'unknown';
  }
}

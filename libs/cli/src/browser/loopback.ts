import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { listenOn } from '@pipeline/runtime';
import { failurePage } from './pages.ts';

const ADDRESS = '127.0.0.1';
const CALLBACK = '/callback';

interface LoopbackOptions {
  /** 0 = any free port. */
  port: number;
  /** Secret that the host returns with the code. */
  state: string;
  /** Title of the pages that refuse a request. */
  failureTitle: string;
  /** Returns the page that the user opens first; null = the user opens an address elsewhere. */
  firstPage: ((redirectUrl: string) => string) | null;
  /** True = the redirect may have an `error` in the place of the code. */
  acceptErrors: boolean;
  /** A request to the callback was refused; the server keeps waiting. */
  onRefused(reason: string): void;
}

/** The request with the code; the browser waits for its response. */
export interface Callback {
  /** Empty when the redirect has an `error`. */
  code: string;
  /** The whole address of the request. */
  url: URL;
  redirect(url: string): Promise<void>;
  show(page: string): Promise<void>;
  fail(message: string): Promise<void>;
}

export interface Loopback {
  /** The first page. Its path is random, so that other users of the machine cannot read the state. */
  url: string;
  redirectUrl: string;
  callback: Promise<Callback>;
  close(): Promise<void>;
}

/** Serves the first page and receives the code. @throws StartError when the port is not available. */
export async function startLoopback(options: LoopbackOptions): Promise<Loopback> {
  const { firstPage, failureTitle } = options;
  const failed = (reason: string) => failurePage(failureTitle, reason);
  const path = `/${randomBytes(16).toString('base64url')}`;
  let accept: (callback: Callback) => void = () => undefined;
  const callback = new Promise<Callback>((resolve) => {
    accept = resolve;
  });
  let received = false;
  let base = '';
  const server = createServer((req, res) => {
    const url = URL.parse(req.url ?? '', base);
    // A page that resolves its own name to this address sends that name.
    if (!url || req.headers.host !== new URL(base).host) return void send(res, 403, failed('wrong address'));
    if (req.method !== 'GET') return void send(res, 405, failed('only GET is supported'));
    if (url.pathname === path && firstPage) return void send(res, 200, firstPage(`${base}${CALLBACK}`));
    if (url.pathname !== CALLBACK) return void send(res, 404, failed('there is no such page'));
    const reason = received ? 'a code was received before' : refusal(url.searchParams, options);
    if (reason !== null) {
      options.onRefused(`a request to the callback was refused: ${reason}`);
      return void send(res, 400, failed(reason));
    }
    received = true;
    accept(callbackOf(url, res, failed));
  });
  base = await listenOn(server, { host: ADDRESS, port: options.port, variable: '--port' });
  return {
    url: `${base}${path}`,
    redirectUrl: `${base}${CALLBACK}`,
    callback,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refusal(query: URLSearchParams, { state, acceptErrors }: LoopbackOptions): string | null {
  if (!equal(query.get('state') ?? '', state)) return 'the state is wrong; the request was started by another command';
  if (acceptErrors && query.get('error')) return null;
  return /^[\w-]{1,200}$/.test(query.get('code') ?? '') ? null : 'the code is missing or malformed';
}

/** Compares in constant time. */
function equal(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

const callbackOf = (url: URL, res: ServerResponse, failed: (reason: string) => string): Callback => ({
  code: url.searchParams.get('code') ?? '',
  url,
  redirect: (target) => send(res.setHeader('Location', target), 303, ''),
  show: (page) => send(res, 200, page),
  fail: (message) => send(res, 502, failed(message)),
});

/** Settles when the response is sent or the browser is gone. */
async function send(res: ServerResponse, status: number, body: string): Promise<void> {
  const done = finished(res).catch(() => undefined);
  res.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    Connection: 'close',
  });
  res.end(body);
  await done;
}

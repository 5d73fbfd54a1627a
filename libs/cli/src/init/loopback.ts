import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { listenOn } from '@pipeline/runtime';
import { failurePage, formPage, type RegistrationForm } from './pages.ts';

const ADDRESS = '127.0.0.1';

interface LoopbackOptions {
  /** 0 = any free port. */
  port: number;
  /** Secret that the host returns with the code. */
  state: string;
  formFor(redirectUrl: string): RegistrationForm;
  /** A request to the callback was refused; the server keeps waiting. */
  onRefused(reason: string): void;
}

/** The request with the code; the browser waits for its response. */
export interface Callback {
  code: string;
  redirect(url: string): Promise<void>;
  fail(message: string): Promise<void>;
}

export interface Loopback {
  /** Page with the form. Its path is random, so that other users of the machine cannot read the state. */
  url: string;
  callback: Promise<Callback>;
  close(): Promise<void>;
}

/** Serves the form and receives the code. @throws StartError when the port is not available. */
export async function startLoopback(options: LoopbackOptions): Promise<Loopback> {
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
    if (!url || req.headers.host !== new URL(base).host) return void send(res, 403, failurePage('wrong address'));
    if (req.method !== 'GET') return void send(res, 405, failurePage('only GET is supported'));
    if (url.pathname === path) return void send(res, 200, formPage(options.formFor(`${base}/callback`)));
    if (url.pathname !== '/callback') return void send(res, 404, failurePage('there is no such page'));
    const reason = received ? 'a code was received before' : refusal(url.searchParams, options.state);
    if (reason !== null) {
      options.onRefused(`a request to the callback was refused: ${reason}`);
      return void send(res, 400, failurePage(reason));
    }
    received = true;
    accept(callbackOf(url.searchParams.get('code') ?? '', res));
  });
  base = await listenOn(server, { host: ADDRESS, port: options.port, variable: '--port' });
  return {
    url: `${base}${path}`,
    callback,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refusal(query: URLSearchParams, state: string): string | null {
  if (!equal(query.get('state') ?? '', state))
    return 'the state is wrong; the registration was started by another command';
  return /^[\w-]{1,200}$/.test(query.get('code') ?? '') ? null : 'the code is missing or malformed';
}

/** Compares in constant time. */
function equal(given: string, wanted: string): boolean {
  const [a, b] = [given, wanted].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

const callbackOf = (code: string, res: ServerResponse): Callback => ({
  code,
  redirect: (url) => send(res.setHeader('Location', url), 303, ''),
  fail: (message) => send(res, 502, failurePage(message)),
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

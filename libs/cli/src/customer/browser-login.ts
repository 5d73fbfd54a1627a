import { randomBytes } from 'node:crypto';
import { displayText } from '@pipeline/domain';
import { DeadlineError, withDeadline } from '@pipeline/runtime';
import { openBrowser } from '../browser/browser.ts';
import { type Callback, startLoopback } from '../browser/loopback.ts';
import { noticePage } from '../browser/pages.ts';
import type { LocalSession } from '../command/command.ts';
import { InputError, LoginError } from '../command/errors.ts';
import { readLine } from '../command/input.ts';
import { wholeNumber } from '../command/values.ts';
import type { UserLogin } from './login-file.ts';

export interface BrowserOptions {
  port?: string;
  timeout?: string;
  /** false with --no-open. */
  open: boolean;
}

/** Redirect address at which no program listens: the user copies it. PKCE makes the code useless to others. */
const PASTED_REDIRECT = 'http://127.0.0.1/callback';
const ADDRESS_LENGTH = 4_000;

/** Secret that ties a redirect to this command. */
const newState = (): string => randomBytes(32).toString('base64url');

const progress =
  ({ streams, isJson }: LocalSession) =>
  (key: 'open' | 'notice', value: string, prefix: string): void =>
    void streams.stderr.write(isJson ? `${JSON.stringify({ [key]: value })}\n` : `${prefix}${value}\n`);

/** Logs in with a browser on this machine, which is redirected to a port of this command. */
export async function browserLogin(session: LocalSession, host: string, options: BrowserOptions): Promise<UserLogin> {
  const { env, streams } = session;
  const port = wholeNumber('--port', options.port ?? '0', [0, 65_535]);
  const minutes = wholeNumber('--timeout', options.timeout ?? '10', [1, 60]);
  const { authorizationRequest, redeem, register } = await import('./oauth.ts');
  const state = newState();
  const print = progress(session);
  const loopback = await startLoopback({
    port,
    state,
    failureTitle: 'You are not logged in',
    firstPage: null,
    acceptErrors: true,
    onRefused: (reason) => print('notice', reason, 'notice: '),
  });
  try {
    const config = await register(host, loopback.redirectUrl);
    const request = await authorizationRequest(config, loopback.redirectUrl, state);
    print('open', request.url.href, 'Open this address in a browser on this machine: ');
    if (options.open && streams.stdin.isTTY === true) openBrowser(request.url.href, env);
    const callback = await inTime(loopback.callback, minutes);
    return await answered(callback, () => redeem(host, config, callback.url, request));
  } finally {
    await loopback.close();
  }
}

/** Shows the user in the browser how the login ended. */
async function answered(callback: Callback, redeem: () => Promise<UserLogin>): Promise<UserLogin> {
  try {
    const login = await redeem();
    await callback.show(noticePage('You are logged in', 'You may close this page and go back to the terminal.'));
    return login;
  } catch (error) {
    await callback.fail(error instanceof Error ? error.message : String(error));
    throw error;
  }
}

async function inTime<T>(work: Promise<T>, minutes: number): Promise<T> {
  try {
    return await withDeadline(work, minutes * 60_000, 'the login');
  } catch (cause) {
    if (!(cause instanceof DeadlineError)) throw cause;
    throw new LoginError(`the browser did not come back within ${minutes} minutes; run the command again`, { cause });
  }
}

/** Logs in with a browser on any machine, where the user enters a code that is shown here. */
export async function deviceLogin(session: LocalSession, host: string, options: BrowserOptions): Promise<UserLogin> {
  const minutes = wholeNumber('--timeout', options.timeout ?? '10', [1, 60]);
  const oauth = await import('./oauth.ts');
  const { isJson, streams } = session;
  const show = ({ verification_uri: url, user_code: code }: { verification_uri: string; user_code: string }) => {
    const [open, shown] = [displayText(url, 500), displayText(code, 50)];
    const line = `Open ${open} in any browser, log in and enter the code ${shown}`;
    streams.stderr.write(`${isJson ? JSON.stringify({ open, code: shown }) : line}\n`);
  };
  const stop = new AbortController();
  try {
    return await inTime(oauth.deviceLogin(host, show, stop.signal), minutes);
  } finally {
    stop.abort();
  }
}

/** Logs in with a browser on another machine: the user pastes the address that it was redirected to. */
export async function pastedLogin(session: LocalSession, host: string): Promise<UserLogin> {
  const { authorizationRequest, redeem, register } = await import('./oauth.ts');
  const config = await register(host, PASTED_REDIRECT);
  const request = await authorizationRequest(config, PASTED_REDIRECT, newState());
  progress(session)('open', request.url.href, 'Open this address in a browser: ');
  const prompt = `The browser ends at ${PASTED_REDIRECT}?…, a page that it cannot load. Paste that address: `;
  const pasted = (await readLine(session.isJson ? '' : prompt, session.streams)).trim();
  const url = pasted.length <= ADDRESS_LENGTH ? URL.parse(pasted) : null;
  if (url?.searchParams.get('state') !== request.checks.expectedState)
    throw new InputError('this is not the address that the browser was redirected to; run the command again');
  return redeem(host, config, url, request);
}

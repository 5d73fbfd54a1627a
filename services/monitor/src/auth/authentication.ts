import type { IncomingMessage } from 'node:http';
import { AppError } from '@pipeline/domain';
import { type AttemptCounter, addressKey, createLoginLimit, type Identity, type LoginFailure } from '@pipeline/http';
import type { Request } from 'express';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { type Credentials, credentialCheck, parseBasic } from './credentials.ts';
import { createSessions } from './sessions.ts';

/** Operator of surface B; the name is recorded in the audit of every action. */
export interface Operator extends Identity {
  readonly username: string;
}

/** Authentication of the callers of surface B (interface: Authentication, Surface B). */
export interface Authentication {
  /**
   * @throws AppError AUTH_REQUIRED without credentials or with a cookie that is no good, AUTH_FAILED for wrong Basic.
   */
  operator(request: IncomingMessage): Promise<Operator>;
  /**
   * Begins a session. @returns its Set-Cookie header; null without authentication.
   * @throws AppError AUTH_FAILED, RateLimited.
   */
  login(given: Credentials, address: string): Promise<string | null>;
  /** Ends the request's session. @returns the Set-Cookie header that clears it. */
  logout(request: IncomingMessage): Promise<string>;
  isAuthenticated(request: IncomingMessage): Promise<boolean>;
}

interface AuthenticationOptions {
  /** The configured pairs; null = every endpoint is open. */
  logins: readonly Credentials[] | null;
  /**
   * Failed logins in five minutes of one username from one address, by the login route and Basic together; 0 = no
   * limit.
   */
  loginAttempts: number;
  /** Records a failed login; it must not throw. */
  onLoginFailure?: ((failure: LoginFailure) => Promise<void>) | undefined;
  now: () => Date;
}

const unrecorded = async () => undefined;

export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { logins: expected, loginAttempts, onLoginFailure = unrecorded, now } = options;
  const sessions = createSessions(now);
  if (expected === null) return openToAll(sessions.close);
  const { isKnown, proves } = credentialCheck(expected);
  const limit = createLoginLimit({ limit: loginAttempts, counter: memoryCounter(), onFailure: onLoginFailure });
  const oneAtATime = sharedWhileRunning<string>();

  /** @throws AppError AUTH_FAILED, RateLimited. */
  const usernameOf = (given: Credentials, address: string): Promise<string> =>
    // Equal attempts at the same time are one guess: requests of a program that share credentials do not add up.
    oneAtATime(JSON.stringify([address, given.username, given.password]), async () => {
      const matches = async () => (isKnown(given) || (await proves(given)) ? given.username : null);
      const username = await limit.attempt({ address, name: given.username }, matches);
      if (username === null) throw new AppError('AUTH_FAILED', 'Wrong username or password');
      return username;
    });

  const operator = async (request: IncomingMessage): Promise<Operator> => {
    const { authorization, cookie } = request.headers;
    // Credentials that are sent on purpose decide; a cookie comes along by itself.
    if (authorization !== undefined) {
      const given = parseBasic(authorization);
      if (!given) throw new AppError('AUTH_FAILED', 'Wrong username or password');
      return identity(await usernameOf(given, addressOf(request)));
    }
    const username = await sessions.userOf(cookie);
    if (username === null) throw new AppError('AUTH_REQUIRED', '');
    return identity(username);
  };

  return {
    operator,
    login: async (given, address) => sessions.open(await usernameOf(given, address)),
    logout: (request) => sessions.close(request.headers.cookie),
    isAuthenticated: (request) => operator(request).then(() => true, refused),
  };
}

/** Runs calls with the same key once while the first of them is in progress; all get its result. */
function sharedWhileRunning<T>(): (key: string, run: () => Promise<T>) => Promise<T> {
  const running = new Map<string, Promise<T>>();
  return (key, run) => {
    const known = running.get(key);
    if (known) return known;
    const result = run().finally(() => running.delete(key));
    running.set(key, result);
    return result;
  };
}

const identity = (username: string): Operator => ({ key: `operator ${username}`, username });

const openToAll = (close: (cookies: string | undefined) => Promise<string>): Authentication => ({
  operator: async (request) => ({ key: `address ${addressKey(addressOf(request))}`, username: 'operator' }),
  login: async () => null,
  logout: (request) => close(request.headers.cookie),
  isAuthenticated: async () => true,
});

function refused(error: unknown): false {
  if (error instanceof AppError && error.code.startsWith('AUTH_')) return false;
  throw error;
}

/** Express finds the caller behind trusted proxies; the socket alone does not. */
const addressOf = (request: IncomingMessage): string =>
  (request as Partial<Request>).ip ?? request.socket.remoteAddress ?? 'unknown';

/** Failed logins as this process counts them. A key is forgotten with its window, so made-up names cost little. */
function memoryCounter(): AttemptCounter {
  const counts = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: 1 });
  return {
    async add(key, windowSeconds) {
      const { consumedPoints, msBeforeNext } = await counts.penalty(key, 1, { customDuration: windowSeconds });
      return { points: consumedPoints, msLeft: msBeforeNext };
    },
    async subtract(key, windowSeconds) {
      await counts.reward(key, 1, { customDuration: windowSeconds });
    },
    async count(key) {
      const found = await counts.get(key);
      return found && found.msBeforeNext > 0 ? found.consumedPoints : 0;
    },
  };
}

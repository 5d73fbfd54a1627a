import type { IncomingMessage } from 'node:http';
import { AppError } from '@pipeline/domain';
import { addressKey, createRateLimiter, type Identity } from '@pipeline/http';
import type { Request } from 'express';
import { type Credentials, credentialCheck, parseBasic } from './credentials.ts';
import { createLoginLimit } from './login-limit.ts';
import { createSessions } from './sessions.ts';

/** Who acts on surface B; the name stands in the audit of every action. */
export interface Operator extends Identity {
  readonly username: string;
}

/** How callers of surface B show who they are (interface: Authentication, Surface B). */
export interface Authentication {
  /** @throws AppError AUTH_REQUIRED without credentials or with a cookie that is no good, AUTH_FAILED for wrong Basic. */
  operator(request: IncomingMessage): Promise<Operator>;
  /**
   * Begins a session. @returns its Set-Cookie header; null where nobody is asked who they are.
   * @throws AppError AUTH_FAILED, RateLimited.
   */
  login(given: Credentials, address: string): Promise<string | null>;
  /** Ends the request's session. @returns the Set-Cookie header that clears it. */
  logout(request: IncomingMessage): Promise<string>;
  isAuthenticated(request: IncomingMessage): Promise<boolean>;
}

/** Wrong Basic credentials from one address: far above any mistake, far below guessing. */
const BASIC_FAILURES = { name: 'basic', limit: 600, windowSeconds: 300 };

interface AuthenticationOptions {
  /** The configured pairs; null = every endpoint is open. */
  logins: readonly Credentials[] | null;
  /** Failed logins in five minutes, for each address and each username; 0 = no limit. */
  loginAttempts: number;
  now: () => Date;
}

export function createAuthentication({ logins: expected, loginAttempts, now }: AuthenticationOptions): Authentication {
  const sessions = createSessions(now);
  if (expected === null) return openToAll(sessions.close);
  const { isKnown, proves } = credentialCheck(expected);
  const logins = createLoginLimit(loginAttempts);
  const failures = createRateLimiter(BASIC_FAILURES);

  const operator = async (request: IncomingMessage): Promise<Operator> => {
    const { authorization, cookie } = request.headers;
    // Credentials that are sent on purpose decide; a cookie comes along by itself.
    if (authorization !== undefined) {
      const given = parseBasic(authorization);
      if (given && isKnown(given)) return identity(given.username);
      // Before the look that costs a core's time.
      await failures.take(addressKey(addressOf(request)));
      if (given && (await proves(given))) return identity(given.username);
      throw new AppError('AUTH_FAILED', 'Wrong username or password');
    }
    const username = await sessions.userOf(cookie);
    if (username === null) throw new AppError('AUTH_REQUIRED', '');
    return identity(username);
  };

  return {
    operator,
    async login(given, address) {
      const takeBack = await logins.attempt(address, given.username);
      if (!isKnown(given) && !(await proves(given))) throw new AppError('AUTH_FAILED', 'Wrong username or password');
      await takeBack();
      return sessions.open(given.username);
    },
    logout: (request) => sessions.close(request.headers.cookie),
    isAuthenticated: (request) => operator(request).then(() => true, refused),
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

/** Express knows the caller behind trusted proxies; the socket alone does not. */
const addressOf = (request: IncomingMessage): string =>
  (request as Partial<Request>).ip ?? request.socket.remoteAddress ?? 'unknown';

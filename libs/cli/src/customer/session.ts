import { clientCredentials, createHostedClient } from '@pipeline/client';
import type { LocalSession } from '../command/command.ts';
import { LoginError, ServiceError, UsageError } from '../command/errors.ts';
import { hostOf } from '../command/values.ts';
import { type Login, LoginFile, type UserLogin, withLogin, withoutLogin } from './login-file.ts';
import type { HostedReader, Reads } from './operations.ts';

type Env = LocalSession['env'];

/** A token is replaced when it ends within this time. */
const MARGIN_MS = 30_000;

/** Retries of a read, with growing pauses: about a second in all. */
const RETRIES = 2;

export interface HostOption {
  host?: string;
}

/**
 * Returns the address of the hosted API: the option, the variable PIPELINE_URL, or that of the last login.
 * @throws UsageError without any of them.
 */
export async function addressOf({ host }: HostOption, env: Env): Promise<string> {
  const given = host ?? env.PIPELINE_URL;
  if (given !== undefined && given !== '') return hostOf(given);
  const { current } = await new LoginFile(env).read();
  if (current !== null) return current;
  throw new UsageError('give the address of the service with --host or PIPELINE_URL, or run pipeline login');
}

export interface ServiceSession {
  host: string;
  client: HostedReader;
}

/** Opens a client of the hosted API with the login of the user. @throws LoginError without one. */
export async function openService(options: HostOption, env: Env, retries = RETRIES): Promise<ServiceSession> {
  const host = await addressOf(options, env);
  const file = new LoginFile(env);
  const login = (await file.read()).logins[host];
  if (!login) throw new LoginError(`you are not logged in: run pipeline login --host ${host}`);
  return { host, client: clientWith(host, tokenOf(file, host, login, env), retries) };
}

/** A client of the hosted API; failures of the connection name the address. */
function clientWith(host: string, token: (refused: boolean) => Promise<string>, retries: number): HostedReader {
  return createHostedClient<Reads>({ url: host, token, retries, fetch: reaching(host) });
}

/** `fetch` whose network errors are those of commands. */
const reaching =
  (host: string): typeof fetch =>
  (input, init) =>
    fetch(input, init).catch((cause: Error & { cause?: { message?: string } }) => {
      if (init?.signal?.aborted && cause.name !== 'TimeoutError') throw cause;
      throw new ServiceError(`${host} cannot be reached: ${cause.cause?.message ?? cause.message}`, { cause });
    });

function tokenOf(file: LoginFile, host: string, login: Login, env: Env): (refused: boolean) => Promise<string> {
  if (login.kind === 'user') return rotating(file, host, login);
  const source = clientCredentials({ url: host, ...secretOf(login, env), fetch: reaching(host) });
  return async (refused) => source(refused);
}

/** @throws LoginError naming the variable that is not set. */
export function secretOf({ clientId, secretEnv }: { clientId: string; secretEnv: string }, env: Env) {
  const clientSecret = env[secretEnv];
  if (clientSecret) return { clientId, clientSecret };
  throw new LoginError(`${secretEnv} is not set: this login takes the client secret from it`);
}

const isFresh = ({ expiresAt }: UserLogin): boolean => expiresAt - MARGIN_MS > Date.now();

/**
 * Access tokens of a login in a browser. A refresh holds the lock of the file and begins with the token that is stored
 * then: another command may have refreshed it meanwhile.
 */
function rotating(file: LoginFile, host: string, first: UserLogin): (refused: boolean) => Promise<string> {
  let login = first;
  return async (refused) => {
    if (!refused && isFresh(login)) return login.accessToken;
    const used = login.accessToken;
    login = await file.locked(async (logins, save) => {
      const stored = logins.logins[host];
      if (stored?.kind !== 'user') throw new LoginError(`you are not logged in: run pipeline login --host ${host}`);
      if (stored.accessToken !== used && isFresh(stored)) return stored;
      const { refresh } = await import('./oauth.ts');
      const next = await refresh(host, stored).catch(async (error) => {
        if (error instanceof LoginError) await save(withoutLogin(logins, host));
        throw error;
      });
      await save({ ...withLogin(logins, host, next), current: logins.current });
      return next;
    });
    return login.accessToken;
  };
}

import { randomBytes } from 'node:crypto';
import { clientCredentials } from '@pipeline/client';
import { DeadlineError, withDeadline } from '@pipeline/runtime';
import type { Command } from 'commander';
import { openBrowser } from '../browser/browser.ts';
import { type Callback, startLoopback } from '../browser/loopback.ts';
import { noticePage } from '../browser/pages.ts';
import { type Answer, type Flags, type LocalSession, leaf, type Run } from '../command/command.ts';
import { LoginError, UsageError } from '../command/input.ts';
import { wholeNumber } from '../command/values.ts';
import { type Login, LoginFile, type UserLogin, withLogin, withoutLogin } from './login-file.ts';
import { text } from './render.ts';
import { addressOf, type HostOption, openService, secretOf } from './session.ts';

interface LoginOptions extends Flags, HostOption {
  clientId?: string;
  clientSecretEnv?: string;
  port?: string;
  timeout?: string;
  /** false with --no-open. */
  open: boolean;
}

export const HOST_OPTION: [string, string] = [
  '--host <url>',
  'address of the hosted API, such as https://pipeline.example.org (default: PIPELINE_URL, else that of the last login)',
];

/** Adds the commands that begin and end a login. */
export function loginCommands(program: Command, run: Run<LocalSession>): void {
  leaf<LoginOptions, LocalSession>(program, run, {
    usage: 'login',
    description:
      'log in to the hosted API in a browser on this machine, or with client credentials; stores the tokens in $XDG_CONFIG_HOME/pipeline/logins.json, readable by its owner only',
    writes: false,
    options: [
      HOST_OPTION,
      ['--client-id <id>', 'log in without a browser, with client credentials of an administrator'],
      [
        '--client-secret-env <name>',
        'environment variable with the client secret, which every command reads; it is not stored',
      ],
      ['--port <n>', 'port on 127.0.0.1 for the browser (default: any free port)'],
      ['--timeout <minutes>', 'minutes to wait for the browser, 1 to 60 (default: 10)'],
      ['--no-open', 'print the address and start no browser'],
    ],
    action: (session, _args, options) => logIn(session, options),
  });
  leaf<HostOption & { keepConnection?: boolean }, LocalSession>(program, run, {
    usage: 'logout',
    description: 'end the connection of a login on the service, and delete its tokens',
    writes: false,
    options: [HOST_OPTION, ['--keep-connection', 'only delete the tokens; for a service that is gone']],
    action: ({ env }, _args, options) => logOut(options, env),
  });
}

async function logIn(session: LocalSession, options: LoginOptions): Promise<Answer> {
  const { env } = session;
  const { clientId, clientSecretEnv: secretEnv } = options;
  if ((clientId === undefined) !== (secretEnv === undefined))
    throw new UsageError('--client-id and --client-secret-env belong together');
  const host = await addressOf(options, env);
  const login =
    clientId !== undefined && secretEnv !== undefined
      ? await clientLogin(host, { clientId, secretEnv }, env)
      : await browserLogin(session, host, options);
  const file = new LoginFile(env);
  const previous = await file.locked(async (logins, save) => {
    await save(withLogin(logins, host, login));
    return logins.logins[host];
  });
  // The tokens of the previous login are lost with this one; its connection would stay in the list of the user.
  if (previous?.kind === 'user') await revoke(host, previous).catch(() => undefined);
  const { client } = await openService({ host }, env);
  const { org, viewer, repos } = await client.bootstrap();
  const data = { host, org: org.slug, login: viewer.login, role: viewer.role, repos: repos.length };
  return {
    data,
    text: `logged in to ${host} as ${text(viewer.login)} (${viewer.role} of ${text(org.name)}); repositories: ${repos.length}`,
  };
}

/** Checks the credentials by a request for a token. */
async function clientLogin(
  host: string,
  { clientId, secretEnv }: { clientId: string; secretEnv: string },
  env: LocalSession['env'],
): Promise<Login> {
  if (!/^[A-Za-z_]\w{0,100}$/.test(secretEnv))
    throw new UsageError('--client-secret-env must be the name of an environment variable, not the secret');
  await clientCredentials({ url: host, ...secretOf({ clientId, secretEnv }, env) })(false);
  return { kind: 'client', clientId, secretEnv };
}

async function browserLogin(session: LocalSession, host: string, options: LoginOptions): Promise<UserLogin> {
  const { env, streams, isJson } = session;
  const port = wholeNumber('--port', options.port ?? '0', [0, 65_535]);
  const minutes = wholeNumber('--timeout', options.timeout ?? '10', [1, 60]);
  const { authorizationRequest, redeem, register } = await import('./oauth.ts');
  const state = randomBytes(32).toString('base64url');
  const print = (key: 'open' | 'notice', value: string, prefix: string) =>
    void streams.stderr.write(isJson ? `${JSON.stringify({ [key]: value })}\n` : `${prefix}${value}\n`);
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

async function logOut(options: HostOption & { keepConnection?: boolean }, env: LocalSession['env']): Promise<Answer> {
  const host = await addressOf(options, env);
  const file = new LoginFile(env);
  const ended = await file.locked(async (logins, save) => {
    const login = logins.logins[host];
    if (!login) throw new LoginError(`you are not logged in to ${host}`);
    const isEnding = login.kind === 'user' && options.keepConnection !== true;
    if (isEnding) await revoke(host, login);
    await save(withoutLogin(logins, host));
    return isEnding;
  });
  const what = ended ? 'logged out, and the connection has ended' : 'the login is deleted here';
  return { data: { host, connectionEnded: ended }, text: `${host}: ${what}` };
}

async function revoke(host: string, login: UserLogin): Promise<void> {
  const oauth = await import('./oauth.ts');
  await oauth.revoke(host, login);
}

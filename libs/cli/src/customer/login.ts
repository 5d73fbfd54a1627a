import { clientCredentials } from '@pipeline/client';
import type { Command } from 'commander';
import { type Answer, type Flags, type LocalSession, leaf, type Run } from '../command/command.ts';
import { LoginError, UsageError } from '../command/errors.ts';
import { type BrowserOptions, browserLogin, deviceLogin, pastedLogin } from './browser-login.ts';
import { HOST_OPTION } from './host-option.ts';
import { type Login, LoginFile, type UserLogin, withLogin, withoutLogin } from './login-file.ts';
import { text } from './render.ts';
import { addressOf, type HostOption, openService, secretOf } from './session.ts';

interface LoginOptions extends Flags, HostOption, BrowserOptions {
  clientId?: string;
  clientSecretEnv?: string;
  paste?: boolean;
  device?: boolean;
}

/** Adds the commands that begin and end a login. */
export function loginCommands(program: Command, run: Run<LocalSession>): void {
  leaf<LoginOptions, LocalSession>(program, run, {
    usage: 'login',
    description:
      'log in to the hosted API in a browser on this machine, or with client credentials; stores the tokens in $XDG_CONFIG_HOME/pipeline/logins.json, readable by its owner only',
    writes: false,
    options: [
      HOST_OPTION,
      ['--device', 'log in with a browser on any machine: enter there the code that is printed here'],
      [
        '--paste',
        'log in with a browser on another machine: open the address there, and paste here the address that it is redirected to',
      ],
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
  if ([clientId !== undefined, options.paste === true, options.device === true].filter(Boolean).length > 1)
    throw new UsageError('--client-id, --device and --paste exclude each other');
  const host = await addressOf(options, env);
  const login =
    clientId !== undefined && secretEnv !== undefined
      ? await clientLogin(host, { clientId, secretEnv }, env)
      : await loginIn(options)(session, host, options);
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

const loginIn = ({ device, paste }: LoginOptions) =>
  device === true ? deviceLogin : paste === true ? pastedLogin : browserLogin;

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

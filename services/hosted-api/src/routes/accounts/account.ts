import type { IncomingMessage } from 'node:http';
import type { pageRoutes } from '@pipeline/contract';
import { endOwnConnection, PASSWORD_LENGTH, verifyPassword } from '@pipeline/engine';
import { type HandlerInput, RateLimited } from '@pipeline/http';
import { type Account, findAccount, liveConnectionsOf, type Store } from '@pipeline/store';
import { type Program, programOf } from '../../accounts/program.ts';
import type { IdentityProvider } from '../../accounts/providers/identity-provider.ts';
import type { Oauth } from '../../oauth/oauth.ts';
import { goTo, type PageAnswer, show, strangeForm, tryAgain } from '../../pages/answers.ts';
import { connectionsPage, endConnectionPage } from '../../pages/connections-page.ts';
import { type LoginForm, loginPage } from '../../pages/login-page.ts';
import { noticePage } from '../../pages/notice-page.ts';

type Route<Id extends string> = Extract<(typeof pageRoutes)[number], { id: Id }>;
export type PageInput<Id extends (typeof pageRoutes)[number]['id']> = HandlerInput<Route<Id>, undefined>;

export interface PageDeps {
  store: Store;
  oauth: Oauth;
  providers: readonly IdentityProvider[];
}

const HOME = '/account/connections';
/**
 * Paths to which a login may lead: a consent in progress, an invitation, the start page, or home; never another site.
 */
const RETURN = /^\/oauth\/interaction\/([\w-]{1,100})$/;
const INVITATION = /^\/account\/invitation\?token=[\w-]{43}$/;

/** The page for codes of devices. */
export const DEVICE = '/account/device';

export const returnOf = (wanted: string | null | undefined): string =>
  wanted === '/' || wanted === DEVICE || (wanted && (RETURN.test(wanted) || INVITATION.test(wanted))) ? wanted : HOME;
export const formOf = (body: Uint8Array): URLSearchParams => new URLSearchParams(new TextDecoder().decode(body));
/** A second question mark belongs to the query, so the address is parsed and not split. */
export const queryOf = ({ url = '/' }: IncomingMessage): URLSearchParams =>
  new URL(url, 'http://localhost').searchParams;
export const loginFor = (path: string): string => `/account/login?return_to=${encodeURIComponent(path)}`;

/** Login, logout and the list of one's own connections. */
export function accountHandlers({ store, oauth, providers }: PageDeps) {
  const { sessions } = oauth;
  return {
    showLogin: async ({ request, query }: PageInput<'showLogin'>): Promise<PageAnswer> => {
      const returnTo = returnOf(query.return_to);
      const { account, formToken, headers } = await sessions.visitor(request);
      if (account) return goTo(returnTo);
      const program = await programAsking(oauth, returnTo);
      return show(200, loginPage({ formToken, returnTo, program, providers }), headers);
    },
    logIn: async (input: PageInput<'logIn'>): Promise<PageAnswer> => logIn({ store, oauth, providers }, input),
    logOut: async ({ request, body }: PageInput<'logOut'>): Promise<PageAnswer> => {
      const form = formOf(body);
      if (!sessions.isOurForm(request, form)) return strangeForm();
      return goTo(loginFor(returnOf(form.get('return_to'))), await sessions.end(request));
    },
    showConnections: async ({ request, query }: PageInput<'showConnections'>): Promise<PageAnswer> => {
      const { account, formToken } = await sessions.visitor(request);
      if (!account) return goTo(loginFor(HOME));
      const connections = await liveConnectionsOf(store.db, account.id);
      return show(200, connectionsPage({ account, connections, formToken, ended: query.ended !== undefined }));
    },
    showEndConnection: async ({ request, params }: PageInput<'showEndConnection'>): Promise<PageAnswer> => {
      const { account, formToken } = await sessions.visitor(request);
      if (!account) return goTo(loginFor(HOME));
      const connections = await liveConnectionsOf(store.db, account.id);
      const connection = connections.find(({ id }) => id === params.id);
      return connection ? show(200, endConnectionPage(connection, formToken)) : show(404, noConnectionPage());
    },
    endConnection: async ({ request, params, body, log }: PageInput<'endConnection'>): Promise<PageAnswer> => {
      const { account } = await sessions.visitor(request);
      if (!account) return goTo(loginFor(HOME));
      if (!sessions.isOurForm(request, formOf(body))) return strangeForm();
      // One that is not theirs, or has ended already, looks the same: it is not there any more.
      const ended = await endOwnConnection(store, account, params.id);
      if (ended) log.info('connection ended by its user', { connection: params.id, user: account.id });
      return goTo(`${HOME}?ended=1`);
    },
  };
}

async function logIn({ store, oauth, providers }: PageDeps, input: PageInput<'logIn'>): Promise<PageAnswer> {
  const { request, address, body, log } = input;
  const form = formOf(body);
  const [email, password] = [form.get('email') ?? '', form.get('password') ?? ''];
  const returnTo = returnOf(form.get('return_to'));
  const { formToken, headers } = await oauth.sessions.visitor(request);
  const program = await programAsking(oauth, returnTo);
  const again = (status: 400 | 403 | 429, problem: Partial<LoginForm>, more: Readonly<Record<string, string>> = {}) =>
    show(status, loginPage({ formToken, returnTo, program, providers, email, ...problem }), { ...headers, ...more });
  if (!oauth.sessions.isOurForm(request, form))
    return again(403, {
      problem: 'This form is too old, or your browser does not accept cookies from this site. Please try again.',
    });
  const fields = {
    ...(email.trim() === '' && { email: 'Enter your email.' }),
    ...(password === '' && { password: 'Enter your password.' }),
  };
  if (Object.keys(fields).length > 0) return again(400, { fields });
  try {
    const caller = { address, name: email.trim().toLowerCase() };
    const account = await oauth.logins.attempt(caller, () => accountOf(store, email, password));
    if (!account) return again(400, { problem: 'The email or the password is wrong.' });
    log.info('logged in', { user: account.id });
    return goTo(returnTo, await oauth.sessions.begin(request, { account, method: 'password', address }));
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    return again(429, { problem: `Too many failed logins. Please ${tryAgain(error)}.` }, error.headers);
  }
}

/** The account of an email and its password; null for any other. It takes the same time for an unknown email. */
async function accountOf(store: Store, email: string, password: string): Promise<Account | null> {
  const account = await findAccount(store.db, email);
  const hash = password.length <= PASSWORD_LENGTH.max ? (account?.passwordHash ?? null) : null;
  const isRight = await verifyPassword(password.slice(0, PASSWORD_LENGTH.max), hash);
  return isRight ? account : null;
}

/** The program of the authorization that a login leads back to; null when there is none any more. */
async function programAsking(oauth: Oauth, returnTo: string): Promise<Program | null> {
  const uid = RETURN.exec(returnTo)?.[1];
  if (uid === undefined) return null;
  const { provider, errors } = await oauth.server();
  const interaction = await provider.Interaction.find(uid);
  if (!interaction) return null;
  try {
    const client = await provider.Client.find(String(interaction.params.client_id));
    return client ? programOf(client) : null;
  } catch (error) {
    if (error instanceof errors.OIDCProviderError) return null;
    throw error;
  }
}

const noConnectionPage = () =>
  noticePage(
    'This connection has ended',
    'This connection no longer exists.',
    'It was ended by you, by the program or by the operator of this service.',
  );

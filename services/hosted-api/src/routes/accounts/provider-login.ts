import { AppError, displayText } from '@pipeline/domain';
import { cleanIdentity, linkOwnIdentity, unlinkOwnIdentity } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { type Account, type ExternalIdentity, findAccount, identitiesOf, recordIdentityLogin } from '@pipeline/store';
import type { Visitor } from '../../accounts/browser-sessions.ts';
import { type IdentityProvider, LoginProblem, type LoginSecrets } from '../../accounts/providers/identity-provider.ts';
import { LoginAttempts } from '../../accounts/providers/login-attempts.ts';
import { goTo, type PageAnswer, show, strangeForm } from '../../pages/answers.ts';
import { notFoundPage } from '../../pages/home-page.ts';
import {
  loginDeniedPage,
  loginOverPage,
  providerFailedPage,
  unknownPersonPage,
  unverifiedPage,
} from '../../pages/login-problems.ts';
import { type LoginsView, loginsPage } from '../../pages/logins-page.ts';
import { formOf, loginFor, type PageDeps, type PageInput, queryOf, returnOf } from './account.ts';

const LOGINS = '/account/logins';
/** Maximum length in the log of the text of a provider's error. */
const LOGGED_LENGTH = 500;

/** Login by an identity provider, and the page on which users connect and remove accounts at providers. */
export function providerLoginHandlers(deps: PageDeps) {
  const { store, oauth, providers } = deps;
  const { sessions } = oauth;
  const attempts = new LoginAttempts(store.db);
  const providerOf = ({ provider }: { provider: string }) => providers.find(({ id }) => id === provider);

  return {
    startLogin: async ({ request, params, query, log }: PageInput<'startLogin'>): Promise<PageAnswer> => {
      const provider = providerOf(params);
      if (!provider) return show(404, notFoundPage());
      const returnTo = returnOf(query.return_to);
      const visitor = await sessions.visitor(request);
      if (visitor.account) return goTo(returnTo);
      return begin({ attempts, provider, visitor, returnTo, log });
    },
    finishLogin: async ({ request, params, address, log }: PageInput<'finishLogin'>): Promise<PageAnswer> => {
      const provider = providerOf(params);
      if (!provider) return show(404, notFoundPage());
      const query = queryOf(request);
      const visitor = await sessions.visitor(request);
      const attempt = await attempts.take(visitor.formToken, query.get('state') ?? '');
      if (attempt?.provider !== provider.id) return show(400, loginOverPage(), visitor.headers);
      const identity = await identify(provider, query, attempt).catch(asProblem);
      if (identity instanceof LoginProblem) return problemPage(provider, identity, log);
      if (attempt.userId !== null) return connect(deps, { visitor, userId: attempt.userId, identity, log });
      const account = await recordIdentityLogin(store.db, identity);
      if (!account) {
        log.info('login by an identity that is not linked', { issuer: identity.issuer, subject: identity.subject });
        return show(403, unknownPersonPage(provider.label, identity));
      }
      log.info('logged in', { user: account.id, provider: provider.id });
      return goTo(attempt.returnTo, await sessions.begin(request, { account, method: provider.id, address }));
    },
    showLogins: async ({ request, query }: PageInput<'showLogins'>): Promise<PageAnswer> => {
      const visitor = await sessions.visitor(request);
      if (!visitor.account) return goTo(loginFor(LOGINS));
      return show(200, await loginsOf(deps, visitor.account, { formToken: visitor.formToken, done: query.done }));
    },
    connectLogin: async ({ request, params, body, log }: PageInput<'connectLogin'>): Promise<PageAnswer> => {
      const provider = providerOf(params);
      if (!provider) return show(404, notFoundPage());
      const visitor = await sessions.visitor(request);
      if (!visitor.account) return goTo(loginFor(LOGINS));
      if (!sessions.isOurForm(request, formOf(body))) return strangeForm();
      return begin({ attempts, provider, visitor, returnTo: LOGINS, log });
    },
    removeLogin: async ({ request, body, log }: PageInput<'removeLogin'>): Promise<PageAnswer> => {
      const { account, formToken } = await sessions.visitor(request);
      if (!account) return goTo(loginFor(LOGINS));
      const form = formOf(body);
      if (!sessions.isOurForm(request, form)) return strangeForm();
      const key = { issuer: form.get('issuer') ?? '', subject: form.get('subject') ?? '' };
      const removed = await unlinkOwnIdentity(store, account, key).catch(asRefusal);
      if (removed instanceof AppError)
        return show(400, await loginsOf(deps, account, { formToken, problem: `Not removed: ${removed.message}.` }));
      if (removed) log.info('login removed by its user', { user: account.id, issuer: key.issuer });
      return goTo(`${LOGINS}?done=removed`);
    },
  };
}

/** @throws LoginProblem, also for an identity that cannot be stored. */
async function identify(provider: IdentityProvider, query: URLSearchParams, secrets: LoginSecrets) {
  const identity = cleanIdentity(await provider.identify(query, secrets));
  if (!identity) throw new LoginProblem('failed', 'the provider sent an issuer or a subject that is not allowed');
  return identity;
}

interface Begin {
  attempts: LoginAttempts;
  provider: IdentityProvider;
  visitor: Visitor;
  returnTo: string;
  log: Logger;
}

/** Leads to the provider. A logged-in user connects an account there; any other person logs in. */
async function begin({ attempts, provider, visitor, returnTo, log }: Begin): Promise<PageAnswer> {
  const { account, formToken, headers } = visitor;
  const attempt = { provider: provider.id, returnTo, userId: account?.id ?? null };
  const url = await provider.authorizationUrl(await attempts.begin(formToken, attempt)).catch(asProblem);
  if (url instanceof LoginProblem) return problemPage(provider, url, log);
  return goTo(url.href, headers);
}

interface Connect {
  visitor: Visitor;
  userId: number;
  identity: ExternalIdentity;
  log: Logger;
}

async function connect(deps: PageDeps, { visitor, userId, identity, log }: Connect): Promise<PageAnswer> {
  const { account, formToken } = visitor;
  if (account?.id !== userId) return show(400, loginOverPage());
  const linked = await linkOwnIdentity(deps.store, account, identity).catch(asRefusal);
  if (linked instanceof AppError)
    return show(400, await loginsOf(deps, account, { formToken, problem: `Not connected: ${linked.message}.` }));
  log.info('login connected by its user', { user: userId, issuer: identity.issuer });
  return goTo(`${LOGINS}?done=connected`);
}

async function loginsOf(
  { store, providers }: PageDeps,
  account: Account,
  more: Pick<LoginsView, 'formToken' | 'done' | 'problem'>,
) {
  const [identities, user] = await Promise.all([
    identitiesOf(store.db, account.id),
    findAccount(store.db, account.email),
  ]);
  return loginsPage({ account, identities, providers, hasPassword: user?.passwordHash != null, ...more });
}

function problemPage({ id, label }: IdentityProvider, problem: LoginProblem, log: Logger): PageAnswer {
  const fields = { provider: id, reason: displayText(problem.message, LOGGED_LENGTH) };
  if (problem.kind === 'failed') {
    log.warn('login by a provider failed', fields);
    return show(503, providerFailedPage(label));
  }
  log.info('login by a provider refused', fields);
  return show(403, problem.kind === 'denied' ? loginDeniedPage(label) : unverifiedPage(label));
}

function asProblem(error: unknown): LoginProblem {
  if (error instanceof LoginProblem) return error;
  throw error;
}

/** Returns an error that reports a refusal by a rule of the domain; throws every other error again. */
function asRefusal(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'INVALID_INPUT') return error;
  throw error;
}

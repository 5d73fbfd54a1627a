import type { IncomingMessage, ServerResponse } from 'node:http';
import { hashTokenBytes } from '@pipeline/engine';
import { type Account, consumeArtifact, type Organisation, organisationsOf } from '@pipeline/store';
import type { InteractionResults } from 'oidc-provider';
import { type Program, programOf } from '../../accounts/program.ts';
import type { TokenLifetimes } from '../../accounts/token-lifetimes.ts';
import { SCOPE } from '../../auth/public-address.ts';
import { REFUSED } from '../../oauth/authorization-errors.ts';
import { interactionPath } from '../../oauth/provider.ts';
import { goTo, type PageAnswer, show, strangeForm } from '../../pages/answers.ts';
import { consentPage } from '../../pages/consent-page.ts';
import { noticePage } from '../../pages/notice-page.ts';
import { authorizationProblemPage } from '../../pages/problem-page.ts';
import { formOf, loginFor, type PageDeps, type PageInput } from './account.ts';
import { connect } from './connect.ts';

interface Asked {
  uid: string;
  /** The request as the library is to see it. */
  seen: IncomingMessage;
  program: Program;
  target: { redirect: string };
  action: string;
  returnTo: string;
  lifetimes: TokenLifetimes;
  account: Account;
  formToken: string;
  organisations: Organisation[];
}

/** Nothing of a response is needed to read or settle an interaction; the library's types ask for one. */
const NO_RESPONSE = { getHeader: () => undefined, setHeader: () => undefined } as unknown as ServerResponse;

/** Asks a user, once they are logged in, whether a program may read, and passes the answer to the library. */
export function consentHandlers(deps: PageDeps & { resource: string }) {
  const { sessions } = deps.oauth;
  return {
    showConsent: async (input: PageInput<'showConsent'>): Promise<PageAnswer> => {
      const asked = await ask(deps, input);
      return 'status' in asked ? asked : show(200, consentPage(asked));
    },
    decideConsent: async (input: PageInput<'decideConsent'>): Promise<PageAnswer> => {
      const asked = await ask(deps, input);
      if ('status' in asked) return asked;
      const form = formOf(input.body);
      if (!sessions.isOurForm(input.request, form)) return strangeForm();
      const decision = form.get('decision');
      const organisation = asked.organisations.find(({ externalId }) => externalId === form.get('organisation'));
      if (decision !== 'deny' && (decision !== 'allow' || !organisation))
        return show(400, consentPage({ ...asked, problem: 'Choose an organisation, then allow or refuse.' }));
      // A form that is sent twice must not make two connections.
      if (!(await consumeArtifact(deps.store.db, 'Interaction', hashTokenBytes(asked.uid)))) return over();
      if (decision === 'deny' || !organisation)
        return settle(deps, asked, { error: REFUSED, error_description: 'the user refused' });
      const grantId = await connect(deps, asked, organisation);
      input.log.info('connection created', { connection: grantId, user: asked.account.id, client: asked.program.id });
      const login = { accountId: String(asked.account.id), remember: false };
      return settle(deps, asked, { login, consent: { grantId } });
    },
  };
}

/** Returns the question for the user; or an answer already: to log in first, or that the question is settled. */
async function ask(deps: PageDeps, input: PageInput<'showConsent' | 'decideConsent'>): Promise<Asked | PageAnswer> {
  const { oauth, store } = deps;
  const { request, params, address } = input;
  const seen = oauth.request(request, { client: address });
  const { provider, errors } = await oauth.server();
  try {
    const { uid, params: asked } = await provider.interactionDetails(seen, NO_RESPONSE);
    const client = await provider.Client.find(String(asked.client_id));
    if (uid !== params.uid || !client) throw new errors.SessionNotFound('not of this browser');
    const { account, formToken } = await oauth.sessions.visitor(request);
    if (!account) return goTo(loginFor(interactionPath(uid)));
    const scopes = String(asked.scope ?? '').split(' ');
    if (!scopes.includes(SCOPE))
      return await settle(
        deps,
        { seen },
        { error: 'invalid_scope', error_description: `the only supported scope is ${SCOPE}` },
      );
    return {
      uid,
      seen,
      account,
      formToken,
      program: programOf(client),
      target: { redirect: String(asked.redirect_uri) },
      action: `${interactionPath(uid)}/confirm`,
      returnTo: interactionPath(uid),
      lifetimes: oauth.lifetimes,
      organisations: await organisationsOf(store.db, account.id),
    };
  } catch (error) {
    if (!(error instanceof errors.OIDCProviderError)) throw error;
    if (!(error instanceof errors.SessionNotFound)) {
      input.log.info('consent page cannot be shown', { error });
      const { error: code, error_description: description } = error as { error?: string; error_description?: string };
      return show(400, authorizationProblemPage({ error: code ?? '', description, program: null, redirect: null }));
    }
    return over();
  }
}

function over(): PageAnswer {
  const why =
    'You have answered this request already, it is older than 15 minutes, or it was started in another browser.';
  return show(400, noticePage('This request is over', why, 'Go back to the program and start again there.'));
}

async function settle(
  { oauth }: PageDeps,
  { seen }: Pick<Asked, 'seen'>,
  result: InteractionResults,
): Promise<PageAnswer> {
  const { provider } = await oauth.server();
  return goTo(await provider.interactionResult(seen, NO_RESPONSE, result));
}

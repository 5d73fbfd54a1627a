import { AppError } from '@pipeline/domain';
import { acceptAsNewUser, acceptInvitation, findInvitation } from '@pipeline/engine';
import type { OpenInvitation } from '@pipeline/store';
import type { Visitor } from '../../accounts/browser-sessions.ts';
import { invitationPath } from '../../accounts/invitation-path.ts';
import { goTo, type PageAnswer, show, strangeForm } from '../../pages/answers.ts';
import { type InvitationView, invitationPage } from '../../pages/invitation-page.ts';
import { noticePage } from '../../pages/notice-page.ts';
import { formOf, loginFor, type PageDeps, type PageInput } from './account.ts';

type Input = PageInput<'acceptInvitation'>;
/** 32 random bytes: a link cannot be guessed, so that looks need no limit of their own. */
const TOKEN = /^[\w-]{43}$/;

/** Invitations to an organisation by link, accepted by the logged-in user or by a new one. */
export function invitationHandlers(deps: PageDeps) {
  const { store, oauth } = deps;
  const { sessions } = oauth;
  const invitationOf = async (token: string) => (TOKEN.test(token) ? findInvitation(store, token) : undefined);

  return {
    showInvitation: async ({ request, query }: PageInput<'showInvitation'>): Promise<PageAnswer> => {
      const token = query.token ?? '';
      const visitor = await sessions.visitor(request);
      const invitation = await invitationOf(token);
      if (!invitation) return show(404, overPage(), visitor.headers);
      return show(200, invitationPage(viewOf(invitation, token, visitor)), visitor.headers);
    },
    acceptInvitation: async (input: Input): Promise<PageAnswer> => {
      const { request, body } = input;
      const form = formOf(body);
      if (!sessions.isOurForm(request, form)) return strangeForm();
      const token = form.get('token') ?? '';
      const invitation = await invitationOf(token);
      if (!invitation) return show(404, overPage());
      const visitor = await sessions.visitor(request);
      if (form.get('as') === 'new') return acceptAsNew(deps, input, { form, token, invitation, visitor });
      if (!visitor.account) return goTo(loginFor(invitationPath(token)));
      if (!(await acceptInvitation(store, invitation, visitor.account))) return show(404, overPage());
      input.log.info('invitation accepted', { invitation: invitation.id, user: visitor.account.id });
      return goTo('/');
    },
  };
}

interface Acceptance {
  form: URLSearchParams;
  token: string;
  invitation: OpenInvitation;
  visitor: Visitor;
}

async function acceptAsNew(
  { store, oauth }: PageDeps,
  { request, address, log }: Input,
  { form, token, invitation, visitor }: Acceptance,
): Promise<PageAnswer> {
  const [name, password] = [form.get('name') ?? '', form.get('password') ?? ''];
  const again = (problem: string) =>
    show(400, invitationPage({ ...viewOf(invitation, token, { ...visitor, account: null }), name, problem }));
  const user = await acceptAsNewUser(store, invitation, { name, password }).catch(asRefusal);
  if (user instanceof AppError) return again(`${user.message}.`);
  if (user === 'used') return show(404, overPage());
  if (user === 'exists') return again('There is an account with this email already. Log in with it to join.');
  log.info('invitation accepted by a new user', { invitation: invitation.id, user });
  const account = { id: user, email: invitation.email };
  return goTo('/', await oauth.sessions.begin(request, { account, method: 'invitation', address }));
}

function asRefusal(error: unknown): AppError {
  if (error instanceof AppError && error.code === 'INVALID_INPUT') return error;
  throw error;
}

const viewOf = (invitation: OpenInvitation, token: string, { account, formToken }: Visitor): InvitationView => ({
  invitation,
  token,
  formToken,
  account: account ?? null,
  loginUrl: loginFor(invitationPath(token)),
});

/** The same for every reason, so that a link reveals nothing about invitations. */
const overPage = () =>
  noticePage(
    'This invitation cannot be used',
    'The link is wrong, was used already, was revoked or has expired.',
    'Ask the person who invited you for a new link.',
  );

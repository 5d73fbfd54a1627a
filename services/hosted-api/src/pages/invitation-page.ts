import { html } from '@pipeline/domain';
import { PASSWORD_LENGTH } from '@pipeline/engine';
import type { Account, OpenInvitation } from '@pipeline/store';
import { alert, type Page, page } from './layout.ts';

export interface InvitationView {
  invitation: OpenInvitation;
  token: string;
  formToken: string;
  /** null = no user is logged in. */
  account: Pick<Account, 'email'> | null;
  /** The address of the login that leads back here. */
  loginUrl: string;
  /** Name as it was typed. */
  name?: string;
  problem?: string;
}

/** Renders the page of an invitation; the logged-in user accepts it, or a new one. */
export function invitationPage(view: InvitationView): Page {
  const { invitation, account, problem } = view;
  const { orgName, role } = invitation;
  return page(
    `Join ${orgName}`,
    html`${problem === undefined ? null : alert(problem)}
<p>You are invited to read the pipeline of <strong>${orgName}</strong> as ${role}.</p>
${account ? acceptForm(view, account.email) : newUserForm(view)}`,
    { refused: problem !== undefined },
  );
}

const hidden = ({
  formToken,
  token,
}: InvitationView) => html`<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="token" value="${token}">`;

const acceptForm = (view: InvitationView, email: string) => html`
<form method="post" action="/account/invitation" class="card">
${hidden(view)}
<p>You are logged in as ${email}.</p>
<button type="submit" name="as" value="account">Join ${view.invitation.orgName}</button>
</form>`;

const newUserForm = (view: InvitationView) => html`
<p class="row"><a class="button plain" href="${view.loginUrl}">I have an account: log in</a></p>
<form method="post" action="/account/invitation" class="card">
${hidden(view)}
<h2>New account</h2>
<p>Email: ${view.invitation.email}</p>
<label for="name">Name</label>
<input type="text" id="name" name="name" value="${view.name ?? ''}" maxlength="100" autocomplete="name" required>
<label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="new-password" minlength="${PASSWORD_LENGTH.min}"
 maxlength="${PASSWORD_LENGTH.max}" required aria-describedby="password-help">
<p class="soft" id="password-help">${PASSWORD_LENGTH.min} characters or more.</p>
<button type="submit" name="as" value="new">Create the account and join</button>
</form>`;

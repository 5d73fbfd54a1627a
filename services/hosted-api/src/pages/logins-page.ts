import { type Html, html } from '@pipeline/domain';
import type { Account, IdentityEntry } from '@pipeline/store';
import { alert, moment, type Page, page } from './layout.ts';
import type { LoginChoice } from './login-page.ts';

export interface LoginsView {
  account: Account;
  hasPassword: boolean;
  identities: readonly IdentityEntry[];
  providers: readonly LoginChoice[];
  formToken: string;
  /** Action that has just been done. */
  done?: string | undefined;
  problem?: string;
}

const DONE: Readonly<Record<string, string>> = {
  connected: 'The account was connected. You can log in with it from now on.',
  removed: 'The account was removed. It can no longer log in as you.',
};

/**
 * Renders the ways in which a user can log in: the password, and accounts at providers. Its forms lead to providers, so
 * their addresses are not restricted.
 */
export function loginsPage({
  account,
  hasPassword,
  identities,
  providers,
  formToken,
  done,
  problem,
}: LoginsView): Page {
  const token = html`<input type="hidden" name="form_token" value="${formToken}">`;
  const isOnly = !hasPassword && identities.length === 1;
  const status = DONE[done ?? ''];
  return page(
    'Ways to log in',
    html`${problem ? alert(problem) : null}${status ? html`<p class="status" role="status">${status}</p>` : null}
<p>You (${account.email}) can log in ${hasPassword ? 'with your password' : null}${
      identities.length === 0 ? '.' : html`${hasPassword ? ' and ' : null}with these accounts.`
    }</p>
${identities.map((identity) => entry(identity, isOnly ? null : token))}
${providers.map((provider) => connectForm(provider, token))}
<p><a href="/account/connections">Your connections</a></p>`,
    { formsLeave: true, refused: problem !== undefined },
  );
}

const entry = (
  { issuer, subject, name, createdAt, lastLoginAt }: IdentityEntry,
  token: Html | null,
): Html => html`<section>
<h2>${name}</h2>
<dl>
<dt>Account at</dt><dd>${issuer}</dd>
<dt>Connected since</dt><dd>${moment(createdAt)}</dd>
<dt>Last login</dt><dd>${lastLoginAt ? moment(lastLoginAt) : 'never'}</dd>
</dl>
${
  token
    ? html`<form method="post" action="/account/logins/remove">${token}
<input type="hidden" name="issuer" value="${issuer}"><input type="hidden" name="subject" value="${subject}">
<button type="submit" class="bad" aria-label="Remove ${name}">Remove</button></form>`
    : html`<p class="soft">It is your only way to log in.</p>`
}
</section>
`;

const connectForm = ({ id, label }: LoginChoice, token: Html): Html =>
  html`<form method="post" action="/account/logins/${id}/connect">${token}
<p class="row"><button type="submit" class="plain">Connect ${label}</button></p></form>
`;

import { html } from '@pipeline/domain';
import type { Program } from '../accounts/program.ts';
import { alert, type Page, page } from './layout.ts';

/** A provider as the pages show it. */
export interface LoginChoice {
  id: string;
  label: string;
}

export interface LoginForm {
  formToken: string;
  /** Path to which the login leads. */
  returnTo: string;
  /** The program that waits for the login; null = none. */
  program: Program | null;
  /** E-mail address as it was typed. */
  email?: string;
  /** Services that log in in place of a password. */
  providers: readonly LoginChoice[];
  /** Problem of the form as a whole, or of one field. */
  problem?: string;
  fields?: { email?: string; password?: string };
}

/** The login form. It names the product, and the program on whose behalf it is shown. */
export function loginPage(form: LoginForm): Page {
  const { formToken, returnTo, program, providers, email = '', problem, fields = {} } = form;
  const wrong = (name: 'email' | 'password') =>
    fields[name] ? html`<p class="error" id="${name}-error">${fields[name]}</p>` : null;
  const marks = (name: 'email' | 'password') =>
    fields[name] ? html` aria-invalid="true" aria-describedby="${name}-error"` : null;
  const purpose = program
    ? html`<p><strong>${program.name}</strong> asks to read your pipeline. Log in first. The next page asks whether you
allow it.</p>`
    : returnTo === '/'
      ? html`<p>Log in to see your repositories, issues and costs.</p>`
      : html`<p>Log in to see which programs read your pipeline.</p>`;
  return page(
    'Log in to Pipeline',
    html`${problem ? alert(problem) : null}${purpose}
<form method="post" action="/account/login" class="card">
<input type="hidden" name="form_token" value="${formToken}">
<input type="hidden" name="return_to" value="${returnTo}">
<label for="email">Email</label>
<input type="email" id="email" name="email" value="${email}" autocomplete="username" required${marks('email')}>
${wrong('email')}
<label for="password">Password</label>
<input type="password" id="password" name="password" autocomplete="current-password" required${marks('password')}>
${wrong('password')}
<button type="submit">Log in</button>
</form>
${providers.map((provider) => providerLink(provider, returnTo))}
<p class="soft">The operator of this service creates accounts and sets new passwords.</p>`,
    { refused: Boolean(problem || fields.email || fields.password) },
  );
}

/** A link and no form: the policy of a page with a password names no other site, and holds for redirects after a form. */
const providerLink = ({ id, label }: LoginChoice, returnTo: string) =>
  html`<p class="row"><a class="button plain" href="/account/login/${id}/start?return_to=${encodeURIComponent(returnTo)}">Log in
with ${label}</a></p>
`;

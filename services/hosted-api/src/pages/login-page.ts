import { html } from './html.ts';
import { alert, type Page, page } from './layout.ts';

export interface LoginForm {
  formToken: string;
  /** Where to go on after the login. */
  returnTo: string;
  /** As it was typed. */
  email?: string;
  /** What is wrong with the form as a whole, or with one field. */
  problem?: string;
  fields?: { email?: string; password?: string };
}

/** Asks who is there. */
export function loginPage({ formToken, returnTo, email = '', problem, fields = {} }: LoginForm): Page {
  const title = problem || fields.email || fields.password ? 'Log in: please check' : 'Log in';
  const wrong = (name: 'email' | 'password') =>
    fields[name] ? html`<p class="error" id="${name}-error">${fields[name]}</p>` : null;
  const marks = (name: 'email' | 'password') =>
    fields[name] ? html` aria-invalid="true" aria-describedby="${name}-error"` : null;
  return page(
    title,
    html`${problem ? alert(problem) : null}
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
<p class="soft">Accounts are made by the operator of this service, who can also set a new password.</p>`,
  );
}

import { html } from '@pipeline/domain';
import { alert, type Page, page } from './layout.ts';

/** Asks for the code that a program without a browser shows. */
export function devicePage({ formToken, problem }: { formToken: string; problem?: string }): Page {
  const marks = problem === undefined ? null : html` aria-invalid="true" aria-describedby="problem"`;
  return page(
    'Connect a program on another device',
    html`${problem === undefined ? null : alert(problem)}
<p>A program without a browser, such as <code>pipeline login --device</code>, shows a code. Enter it only if you have just started
that program yourself.</p>
<form method="post" action="/account/device" class="card">
<input type="hidden" name="form_token" value="${formToken}">
<label for="user_code">Code</label>
<input type="text" id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" spellcheck="false"
 maxlength="20" required${marks}>
<button type="submit">Continue</button>
</form>`,
    { refused: problem !== undefined },
  );
}

/** The decision is recorded; the program asks for it by itself. */
export const decidedPage = (name: string, isAllowed: boolean): Page =>
  page(
    isAllowed ? `${name} is connected` : `${name} is not connected`,
    html`<p class="status" role="status">${isAllowed ? 'The program continues in a few seconds.' : 'The program gets no access.'} You may close this page.</p>
<p><a href="/account/connections">Your connections</a></p>`,
  );

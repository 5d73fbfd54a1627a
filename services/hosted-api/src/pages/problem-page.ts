import { displayText, html } from '@pipeline/domain';
import type { AuthorizationProblem } from '../accounts/program.ts';
import { alert, type Page, page } from './layout.ts';

/** OAuth's error codes as sentences for people. */
const SENTENCES: Readonly<Record<string, string>> = {
  invalid_request: 'The request of the program is incomplete or contains a mistake.',
  invalid_client: 'This service does not know the program, or cannot read its description.',
  invalid_client_metadata: 'The description of the program contains a mistake.',
  invalid_redirect_uri: 'The program requested a redirect to an address that it has not registered.',
  unauthorized_client: 'The program requested a grant type that it has not registered.',
  unsupported_response_type: 'The program requested a response type that this service does not support.',
  unsupported_response_mode: 'The program requested a response type that this service does not support.',
  invalid_scope: 'The program requested a permission that does not exist.',
  invalid_target: 'The program requested access to a different service.',
  login_required: 'The program requested access without showing you a page. You have to log in and approve first.',
  consent_required: 'The program requested access without showing you a page. You have to log in and approve first.',
  interaction_required:
    'The program requested access without showing you a page. You have to log in and approve first.',
  access_denied: 'Access was refused.',
  temporarily_unavailable: 'This service is temporarily unavailable. Try again in a minute.',
  server_error: 'Something went wrong in this service. Try again in a minute.',
};
const OTHERWISE = 'The request of the program cannot be processed.';
const TOO_MANY = 'Too many programs were registered from this network in a short time. Try again in an hour.';

/** Matches the library's error for a metadata document that may not be fetched now. */
const FETCH_REFUSED = /fetch not allowed/;

const DETAIL_LENGTH = 300;
const ADDRESS_LENGTH = 500;

/** An authorization request that cannot go on. Addresses of programs are shown as text: nothing here leads to them. */
export function authorizationProblemPage({ error, description, program, redirect }: AuthorizationProblem): Page {
  const what = FETCH_REFUSED.test(description ?? '') ? TOO_MANY : (SENTENCES[error] ?? OTHERWISE);
  const who = program
    ? html`<p>The request came from a program that calls itself <strong>${program.name}</strong>.</p>`
    : null;
  const where = redirect
    ? html`<p>It requested a redirect to <code>${displayText(redirect, ADDRESS_LENGTH)}</code>. Nothing was sent there.</p>`
    : null;
  const detail = displayText([error, description].filter(Boolean).join(': '), DETAIL_LENGTH);
  return page(
    'The program cannot be connected',
    html`${alert(what)}
${who}${where}
<p>Go back to the program and start again there. If you did not start it, close this page.</p>
<p class="soft">For the developers of the program: <code>${detail}</code></p>
<p><a href="/account/connections">Your connections</a></p>`,
  );
}

import { displayText, html } from '@pipeline/domain';
import type { ExternalIdentity } from '@pipeline/store';
import { alert, type Page, page } from './layout.ts';

const AGAIN = html`<p><a href="/account/login">Log in another way</a></p>`;

const problemPage = (title: string, problem: string, help: string): Page =>
  page(title, html`${alert(problem)}<p>${help}</p>${AGAIN}`);

/** The callback belongs to no login of this browser. */
export const loginOverPage = (): Page =>
  problemPage(
    'This login is over',
    'The login was completed already, is older than 15 minutes, or was started in another browser.',
    'Log in again. Your browser must accept cookies from this site.',
  );

/** The provider refused, or the person did. */
export const loginDeniedPage = (label: string): Page =>
  problemPage(
    'Not logged in',
    `The login with ${label} was cancelled or refused there.`,
    'Nothing was changed. You can try again, or log in another way.',
  );

/** The provider does not confirm the email address. */
export const unverifiedPage = (label: string): Page =>
  problemPage(
    'Your email address is not verified',
    `The account at ${label} has no verified email address.`,
    `Verify the address at ${label}, then log in again.`,
  );

/** The provider cannot be reached, or its answer is wrong. */
export const providerFailedPage = (label: string): Page =>
  problemPage(
    'The login did not work',
    `${label} could not be reached or did not complete the login.`,
    'Nothing was changed. Try again in a minute, or log in another way. If it happens again, write to the operator of this service.',
  );

const LENGTH = 500;

/** The provider confirms an identity that is linked to no enabled user. The page names it for the administrator's command. */
export const unknownPersonPage = (label: string, { issuer, subject, name }: ExternalIdentity): Page =>
  page(
    'This account is not connected',
    html`${alert(`No user of this service logs in with the account ${displayText(name, LENGTH)} at ${label}.`)}
<p>If you have a password here, log in with it and connect the account under “Ways to log in”. Otherwise send these two
values to the operator of this service, who can connect the account to your user:</p>
<dl>
<dt>Issuer</dt><dd><code>${displayText(issuer, LENGTH)}</code></dd>
<dt>Subject</dt><dd><code>${displayText(subject, LENGTH)}</code></dd>
</dl>
${AGAIN}`,
  );

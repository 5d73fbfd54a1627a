import { APP_PERMISSIONS, html } from '@pipeline/domain';
import { page } from '../browser/pages.ts';

/** A form that a browser posts to the host. */
export interface RegistrationForm {
  action: string;
  manifest: string;
}

/** Returns the page that leads to the host, with the permissions that are requested there. */
export function formPage({ action, manifest }: RegistrationForm): string {
  const permissions = Object.entries(APP_PERMISSIONS).map(([name, level]) => html`<li>${name}: ${level}</li>`);
  return page(
    'Register the GitHub App of the pipeline',
    html`<p>${new URL(action).host} shows the app and asks you to confirm it. The app has these permissions where it is installed:</p>
<ul>${permissions}</ul>
<form method="post" action="${action}"><input type="hidden" name="manifest" value="${manifest}">
<button>Continue to ${new URL(action).host}</button></form>`,
  );
}

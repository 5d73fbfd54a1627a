import { APP_PERMISSIONS, type Html, html } from '@pipeline/domain';

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

export const failurePage = (message: string): string =>
  page('The GitHub App is not set up', html`<p role="alert">${message}</p>`);

const page = (title: string, body: Html): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`.markup;

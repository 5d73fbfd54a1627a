import { type Html, html } from '@pipeline/domain';

/** Returns a page that names the reason why the command cannot continue. */
export const failurePage = (title: string, message: string): string =>
  page(title, html`<p role="alert">${message}</p>`);

/** Returns a page with one sentence. */
export const noticePage = (title: string, message: string): string => page(title, html`<p>${message}</p>`);

/** Returns a whole page without scripts and styles. */
export const page = (title: string, body: Html): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title></head><body><main><h1>${title}</h1>${body}</main></body></html>`.markup;

import { createHash } from 'node:crypto';
import { type Html, html } from './html.ts';
import { STYLE } from './style.ts';

export interface Page {
  html: string;
  /** Its Content-Security-Policy. */
  policy: string;
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Nothing is loaded and nothing runs on a page; the one style sheet is known by its hash.
 * @param formsLeave the answer to a form of this page redirects to a program's own address. Browsers hold every
 * redirect after a form to form-action, and the program may redirect further, so there it cannot be named.
 */
const policyOf = (formsLeave: boolean): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(formsLeave ? [] : ["form-action 'self'"]),
  ].join('; ');

const PRODUCT = 'Pipeline';

interface PageOptions {
  /** The start page names the product in its title, and needs no link to itself. */
  isHome?: boolean;
  formsLeave?: boolean;
  /** The form on the page was refused: the title says so first, where screen readers begin. */
  refused?: boolean;
}

/** A whole page. It works without scripts, by keyboard and on a narrow screen. */
export function page(title: string, content: Html, options: PageOptions = {}): Page {
  const { isHome = false, formsLeave = false, refused = false } = options;
  const style = `<style>${STYLE}</style>`;
  const body = html`<title>${refused ? 'Please check: ' : null}${title}${title.endsWith(PRODUCT) ? null : ` - ${PRODUCT}`}</title>
</head>
<body>
${isHome ? null : html`<header><a href="/">${PRODUCT}</a></header>`}
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
  const head = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${style}
`;
  return { html: head + body.markup, policy: policyOf(formsLeave) };
}

/** What is wrong; screen readers announce it at once. */
export const alert = (text: string): Html => html`<p class="alert" role="alert" id="problem">${text}</p>`;

import { createHash } from 'node:crypto';
import { type Html, html } from '@pipeline/domain';

/**
 * The look of all pages: the colours of the customers' pages (libs/web, design/tokens.css). They keep a contrast of at
 * least 4.5:1 in light and dark.
 */
export const STYLE = `
:root { color-scheme: light dark; --text: #18212c; --back: #fff; --card: #f6f7f9; --line: #7d8896; --soft: #55606e;
  --accent: #0b5fc0; --on-accent: #fff; --bad: #b3261e; --bad-back: #fdf1f0; --good: #146c43; --good-back: #eef8f2;
  --warn: #8a5300; --warn-back: #fff4e0 }
@media (prefers-color-scheme: dark) { :root { --text: #e6ebf2; --back: #10151c; --card: #171e28; --line: #647286;
  --soft: #a3afbd; --accent: #7ab7ff; --on-accent: #10151c; --bad: #ff8a80; --bad-back: #2b1719; --good: #5fd39a;
  --good-back: #10261c; --warn: #f0b04d; --warn-back: #2b2210 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
header, main { max-width: 34rem; margin: 0 auto; padding: 0 1rem }
header { padding-top: 1rem; font-weight: 600 }
header a { text-decoration: none; display: inline-block; padding: .5rem 0 }
main { padding-bottom: 3rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 1rem 0; overflow-wrap: anywhere }
h2 { font-size: 1.125rem; margin: 0 0 .25rem; overflow-wrap: anywhere }
section, .card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem }
section > :last-child, .card > :last-child { margin-bottom: 0 }
label, legend { display: block; font-weight: 600; margin: 0 0 .25rem }
fieldset { border: 0; margin: 0 0 1rem; padding: 0 }
fieldset label { font-weight: 400; padding: .5rem 0 }
input[type=email], input[type=password], input[type=text] { width: 100%; min-height: 2.75rem; font: inherit; padding: .5rem; color: inherit;
  background: var(--back); border: 1px solid var(--line); border-radius: .375rem; margin: 0 0 1rem }
input[type=radio] { width: 1.25rem; height: 1.25rem; vertical-align: middle; margin: 0 .5rem 0 0 }
button, .button { display: inline-block; min-height: 2.75rem; font: inherit; font-weight: 600; padding: .5rem 1.25rem;
  border-radius: .375rem; border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); cursor: pointer }
.button { text-decoration: none }
.plain { background: transparent; color: var(--accent) }
.bad { border-color: var(--bad); background: transparent; color: var(--bad) }
.row { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center }
a { color: var(--accent) }
a:focus-visible, button:focus-visible, input:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
[aria-invalid=true] { border-color: var(--bad) }
.error { color: var(--bad); margin: -.75rem 0 1rem }
.alert { color: var(--bad); background: var(--bad-back); border: 1px solid currentColor; border-radius: .375rem; padding: .75rem }
.status { color: var(--good); background: var(--good-back); border: 1px solid currentColor; border-radius: .375rem; padding: .75rem }
.warning { background: var(--warn-back); border: 1px solid var(--warn); border-radius: .375rem; padding: .75rem }
.soft { color: var(--soft) }
code { font: .9375em ui-monospace, monospace; overflow-wrap: anywhere }
ul { padding-left: 1.25rem; margin: .5rem 0 1rem }
li { margin: .25rem 0 }
p { overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .125rem 1rem; margin: 0 0 1rem }
dd { margin: 0; overflow-wrap: anywhere }
dt { color: var(--soft) }
@media (max-width: 26rem) { dl { grid-template-columns: 1fr } dd { margin: 0 0 .5rem } .row button, .row .button { width: 100%; text-align: center } }
`;

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
  /** The form on the page was refused: the title reports it first, where screen readers begin. */
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

/** Renders a problem; screen readers announce it at once. */
export const alert = (text: string): Html => html`<p class="alert" role="alert" id="problem">${text}</p>`;

/** A time, to the minute. */
export const moment = (time: string): Html =>
  html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`;

import { Html, type HtmlContent, html } from '@pipeline/domain';
import { addressFrom } from './links.ts';
import type { NavigationGroup } from './navigation.ts';
import { outputPath, type PageHeading } from './pages/page.ts';

/** Everything comes from the site itself; there is no inline script and no inline style. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";

/** Longer lists do not fit beside the text. */
const MAX_CONTENTS = 60;

export interface LaidOutPage {
  /** Path in the output. */
  readonly output: string;
  readonly title: string;
  readonly markup: string;
  readonly headings: readonly PageHeading[];
}

/** The whole page: header with search, navigation, text, contents. All addresses are relative, so it works below any path. */
export function layOut(page: LaidOutPage, groups: readonly NavigationGroup[]): string {
  const to = (output: string): string => addressFrom(page.output, output);
  const contents = contentsOf(page.headings);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title === 'Pipeline' ? 'Pipeline' : `${page.title} · Pipeline`}</title>
<link rel="icon" href="${to('assets/icon.svg')}">
<link rel="stylesheet" href="${to('assets/site.css')}">
<script src="${to('assets/theme.js')}"></script>
<script type="module" src="${to('assets/search.js')}"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<button type="button" class="menu" popovertarget="navigation">Menu</button>
<a class="home" href="${to('index.html')}">Pipeline</a>
<form id="search" role="search" hidden>
<input type="search" aria-label="Search the documentation" placeholder="Search (/)" autocomplete="off">
<div id="search-status" role="status"></div>
<ol id="results" hidden></ol>
</form>
<button type="button" id="theme" hidden>Light or dark</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Documentation" popover>${groups.map((group) => navigationGroup(group, page.output))}</nav>
<main id="text" tabindex="-1">
${contents.length > 0 && html`<button type="button" class="contents" popovertarget="contents">On this page</button>`}
${Html.trusted(page.markup)}
</main>
${contents.length > 0 && contentsList(contents)}
</div>
</body>
</html>
`.markup;
}

function contentsOf(headings: readonly PageHeading[]): PageHeading[] {
  const inner = headings.filter(({ depth }) => depth === 2 || depth === 3);
  const listed = inner.length > MAX_CONTENTS ? inner.filter(({ depth }) => depth === 2) : inner;
  return listed.length > 1 ? listed : [];
}

const contentsList = (headings: readonly PageHeading[]): HtmlContent =>
  html`<nav id="contents" aria-label="On this page" popover><ul>${headings.map(
    ({ id, text, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`,
  )}</ul></nav>`;

function navigationGroup({ title, pages }: NavigationGroup, output: string): HtmlContent {
  return html`<h2>${title}</h2><ul>${pages.map(([source, name]) => {
    const target = outputPath(source);
    const current = target === output && Html.trusted(' aria-current="page"');
    return html`<li><a href="${addressFrom(output, target)}"${current}>${name}</a></li>`;
  })}</ul>`;
}

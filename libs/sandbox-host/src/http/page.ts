import { Html, html } from '@pipeline/domain';
import type { Response } from 'express';

const STYLE = `:root{color-scheme:light dark;--text:#18212c;--page:#fff;--panel:#f6f7f9;--line:#d1d9e0;--muted:#55606e;
--accent:#0b5fc0;--added:#e6f6ec;--removed:#fdeceb;--good:#146c43;--bad:#b3261e;--merged:#6b3fa0}
@media(prefers-color-scheme:dark){:root{--text:#e6ebf2;--page:#10151c;--panel:#171e28;--line:#2b3643;--muted:#a3afbd;
--accent:#7ab7ff;--added:#12301f;--removed:#3b1a1c;--good:#5fd39a;--bad:#ff8a80;--merged:#c9a6ff}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem;color:var(--text);background:var(--page)}
a{color:var(--accent);text-underline-offset:2px}h1,h2,p,li{overflow-wrap:anywhere}h1{font-size:1.5rem;line-height:1.3;margin:.75rem 0}
h2{font-size:1.1rem;margin:1.5rem 0 .5rem}
table{border-collapse:collapse}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line)}
.label{display:inline-block;border:1px solid var(--line);border-radius:1rem;padding:0 .6rem;margin-right:.25rem;font-size:.8rem;
line-height:1.45;white-space:nowrap}
.items{list-style:none;margin:.75rem 0;padding:0;border:1px solid var(--line);border-radius:.5rem}
.items li{display:flex;gap:.75rem;padding:.5rem .9rem;border-bottom:1px solid var(--line)}.items li:last-child{border-bottom:0}
.items a{font-weight:600;color:var(--text);text-decoration:none}.items a:hover{color:var(--accent);text-decoration:underline}
.items .state{flex:none;width:4.2rem}.about,.small,time{color:var(--muted);font-size:.85rem}
.items .about{margin-top:.15rem}
.tabs a,.tabs strong{margin-right:1rem}.monitor{display:inline-block;margin-left:.25rem}
.state{font-weight:600}.open{color:var(--good)}.closed,.merged{color:var(--merged)}.bad{color:var(--bad)}
article{border:1px solid var(--line);border-radius:.5rem;margin:1rem 0}
article header{background:var(--panel);padding:.3rem 1rem;border-bottom:1px solid var(--line);border-radius:.5rem .5rem 0 0}
.body{padding:0 1rem;overflow-x:auto;overflow-wrap:anywhere}code,pre{font:.9em/1.45 ui-monospace,monospace}
pre{background:var(--panel);padding:.6rem 1rem;overflow-x:auto}blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line)}
.diff{border:1px solid var(--line);border-radius:.5rem;padding:.6rem 0}.diff span{display:block;padding:0 1rem;white-space:pre}
.file{font-weight:600}.hunk{color:var(--muted)}.added{background:var(--added)}.removed{background:var(--removed)}
@media(max-width:479px){body{padding:.75rem}h1{font-size:1.25rem}.items li{padding:.5rem .7rem}}`;

interface Head {
  /** The title with markup; default: the title of the document. */
  heading?: Html;
  /** Follows the link to the list of repositories. */
  trail?: Html;
}

export const page = (title: string, body: Html, { heading, trail }: Head = {}): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${Html.trusted(STYLE)}</style></head><body><header><a href="/">Sandbox host</a>${trail ?? null}</header>
<main><h1>${heading ?? title}</h1>${body}</main></body></html>`.markup;

/** Pages load nothing and run no script. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function sendPage(res: Response, title: string, body: Html, status = 200): void {
  res.status(status).set('Content-Security-Policy', PAGE_POLICY).send(page(title, body));
}

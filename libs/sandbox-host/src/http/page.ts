import { Html, html } from '@pipeline/domain';
import type { Response } from 'express';

const STYLE = `:root{color-scheme:light dark;--text:#18212c;--page:#fff;--panel:#f6f7f9;--line:#d1d9e0;--muted:#55606e;
--accent:#0b5fc0;--added:#e6f6ec;--removed:#fdeceb;--good:#146c43;--bad:#b3261e;--merged:#6b3fa0}
@media(prefers-color-scheme:dark){:root{--text:#e6ebf2;--page:#10151c;--panel:#171e28;--line:#3a4654;--muted:#a3afbd;
--accent:#7ab7ff;--added:#12301f;--removed:#3b1a1c;--good:#5fd39a;--bad:#ff8a80;--merged:#c9a6ff}}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--text);background:var(--page)}
a{color:var(--accent)}h1,p,li{overflow-wrap:anywhere}.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line)}
.label{border:1px solid var(--line);border-radius:1rem;padding:0 .6rem;margin-right:.3rem;font-size:.85rem;white-space:nowrap}
.state{font-weight:600}.open{color:var(--good)}.closed{color:var(--bad)}.merged{color:var(--merged)}time{color:var(--muted)}
article{border:1px solid var(--line);border-radius:.4rem;margin:1rem 0}
article header{background:var(--panel);padding:.3rem 1rem;border-bottom:1px solid var(--line)}
.body{padding:0 1rem;overflow-x:auto;overflow-wrap:anywhere}code,pre{font:.875rem/1.45 ui-monospace,monospace}
pre{background:var(--panel);padding:.6rem 1rem;overflow-x:auto}blockquote{margin:0;padding-left:1rem;border-left:3px solid var(--line)}
.diff{border:1px solid var(--line);border-radius:.4rem;padding:.6rem 0}.diff span{display:block;padding:0 1rem;white-space:pre}
.file{font-weight:600}.hunk{color:var(--muted)}.added{background:var(--added)}.removed{background:var(--removed)}`;

export const page = (title: string, body: Html): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${Html.trusted(STYLE)}</style></head><body><header><a href="/">Sandbox host</a></header>
<main><h1>${title}</h1>${body}</main></body></html>`.markup;

/** Pages load nothing and run no script. */
export const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

export function sendPage(res: Response, title: string, body: Html, status = 200): void {
  res.status(status).set('Content-Security-Policy', PAGE_POLICY).send(page(title, body));
}

/** Text that is safe in a page. Only `html` makes it. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | Html[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

const show = (value: Value): string => {
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map((part) => part.text).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
};

/** A template whose values are escaped unless they are `Html` themselves. */
export const html = (parts: TemplateStringsArray, ...values: Value[]): Html =>
  new Html(parts.reduce((text, part, index) => text + show(values[index - 1] ?? '') + part));

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d1d9e0}
.label{background:#ddf4ff;border-radius:1rem;padding:0 .6rem;margin-right:.3rem;font-size:.85rem;white-space:nowrap}
article{border:1px solid #d1d9e0;border-radius:.4rem;margin:1rem 0}article header{background:#f6f8fa;padding:.3rem 1rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:inherit;margin:0;padding:.6rem 1rem}`;

export const page = (title: string, body: Html): string =>
  html`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${new Html(STYLE)}</style></head><body><p><a href="/">sandbox host</a></p>
<h1>${title}</h1>${body}</body></html>`.text;

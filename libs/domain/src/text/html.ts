const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to send. The template tag `html` escapes every text in it. */
export class Html {
  readonly markup: string;
  private constructor(markup: string) {
    this.markup = markup;
  }

  /** Markup of a renderer that escapes texts itself. */
  static trusted(markup: string): Html {
    return new Html(markup);
  }
}

export type HtmlContent = Html | string | number | null | false | readonly HtmlContent[];

/** Returns markup with values in it: texts are escaped, markup is kept, lists are joined, null and false are omitted. */
export const html = (parts: TemplateStringsArray, ...values: HtmlContent[]): Html =>
  Html.trusted(String.raw({ raw: parts }, ...values.map(render)));

function render(value: HtmlContent): string {
  if (value instanceof Html) return value.markup;
  if (value === null || value === false) return '';
  if (typeof value === 'object') return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

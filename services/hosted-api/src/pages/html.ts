/** Markup that is safe to send. Only the template tag below makes it, so that no text gets there unescaped. */
export class Html {
  readonly markup: string;
  private constructor(markup: string) {
    this.markup = markup;
  }

  static of(parts: TemplateStringsArray, values: readonly Content[]): Html {
    return new Html(String.raw({ raw: parts }, ...values.map(render)));
  }
}

type Content = Html | string | number | null | false | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup with values in it: texts are escaped, markup stays, lists are joined, null and false leave nothing. */
export const html = (parts: TemplateStringsArray, ...values: Content[]): Html => Html.of(parts, values);

function render(value: Content): string {
  if (value instanceof Html) return value.markup;
  if (value === null || value === false) return '';
  if (typeof value === 'object') return value.map(render).join('');
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

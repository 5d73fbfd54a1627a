/** An invisible character after the sign: the host then finds neither a mention nor a tag. */
const GAP = '\u200b';

/** Control characters except line feed and tab, and characters that change the text direction. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/**
 * Text of people and agents, safe to embed in our Markdown: it mentions no user (an entity for the sign would, too),
 * opens no tag, comment or image, and so contains no marker. Its own Markdown is unchanged; put it into a quotation or
 * a fence, which it cannot leave. At most `max` characters, cut with an ellipsis.
 */
export function inertText(text: string, max: number): string {
  const head = text.slice(0, 2 * max + 2);
  const clean = head.replace(/\r\n?/g, '\n').replace(UNSEEN, '').toWellFormed().trim();
  const characters = Array.from(clean);
  const cut = characters.length > max || head.length < text.length;
  const kept = cut ? `${characters.slice(0, max).join('').trimEnd()}…` : clean;
  return kept
    .replace(/&(?=[#A-Za-z])/g, `&${GAP}`)
    .replace(/@(?=[\w-])/g, `@${GAP}`)
    .replace(/<(?=[A-Za-z!/?])/g, `<${GAP}`)
    .replace(/!(?=\[)/g, `!${GAP}`);
}

/** A quotation of inert text: every line is prefixed, so that it cannot break out. */
export const quoted = (text: string, max: number): string =>
  inertText(text, max)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

/** A fenced block of inert text; the fence is longer than any run of backticks in it. */
export function fenced(text: string, max: number): string {
  const inert = inertText(text, max);
  const longest = Math.max(2, ...(inert.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${inert}\n${fence}`;
}

/** Between the sign and what follows it, unseen: the host then finds neither a mention nor a tag. */
const GAP = '\u200b';

/** Control characters but line feed and tab, and those that turn the direction of writing around. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029\ufeff]/gu;

/**
 * Text of people and agents as it may stand in Markdown of ours: it pings nobody (an entity for the sign would, too),
 * opens no tag, comment or image, and so carries no marker. Its own Markdown is left alone; put it into a quotation or
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

/** A quotation of inert text: every line of it is marked, so that it cannot break out. */
export const quoted = (text: string, max: number): string =>
  inertText(text, max)
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');

/** A block of inert text as it is written, in a fence longer than any run of backticks in it. */
export function fenced(text: string, max: number): string {
  const inert = inertText(text, max);
  const longest = Math.max(2, ...(inert.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${inert}\n${fence}`;
}

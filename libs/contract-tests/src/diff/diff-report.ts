import type { JudgedChange } from './allowed.ts';

/** The number of changes of each level. */
export function diffSummary(changes: readonly JudgedChange[]): string {
  const count = (level: string) => changes.filter((change) => change.level === level && !change.allowed).length;
  const allowed = changes.filter((change) => change.allowed).length;
  const text = `${count('breaking')} breaking, ${count('additive')} additive, ${count('cosmetic')} cosmetic`;
  return `${changes.length} changes: ${text}${allowed > 0 ? `, ${allowed} breaking but allowed` : ''}`;
}

/** Replaces control characters of a document: a terminal would act on them. */
const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}');

const reasonOf = ({ allowed }: JudgedChange): string => (allowed ? ` (allowed: ${allowed})` : '');

/** One line for each change, for a terminal. */
export function diffText(changes: readonly JudgedChange[]): string {
  return changes
    .map((change) => `${`${change.level} ${change.rule}@${change.place}: ${change.text}`}${reasonOf(change)}`)
    .map((line) => `${printable(line)}\n`)
    .join('');
}

const cell = (text: string): string => printable(text).replace(/[\\`*_{}[\]<>()#+!|~&@:-]/g, '\\$&');

/** A table for a comment on a pull request. */
export function diffMarkdown(changes: readonly JudgedChange[]): string {
  const rows = changes.map((change) =>
    [change.level, change.rule, change.place, `${change.text}${reasonOf(change)}`].map(cell).join(' | '),
  );
  const table = ['| Level | Rule | Place | Change |', '| --- | --- | --- | --- |', ...rows.map((row) => `| ${row} |`)];
  return [diffSummary(changes), ...(rows.length > 0 ? ['', ...table] : []), ''].join('\n');
}

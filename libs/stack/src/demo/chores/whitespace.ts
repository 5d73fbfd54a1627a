import { withoutTrailing } from '@pipeline/domain';
import { type Chore, changed, isMarkdown, pathsUnder } from './chore.ts';

/** Formats in which blanks at the end of a line never mean anything (Markdown's hard break apart). */
const PLAIN = /\.(md|markdown|txt|json|jsonc|ya?ml|toml|ini|css|sql)$/i;

/** One line as it should end: no blanks, but for Markdown's hard break, which is two spaces after text. */
export function cleanLine(line: string, markdown: boolean): string {
  const stripped = withoutTrailing(line, ' \t');
  const hardBreak = markdown && stripped !== '' && / {2}$/.test(line);
  return hardBreak ? `${stripped}  ` : stripped;
}

/** Exactly one newline at the end; an empty or blank text becomes empty. */
export function withFinalNewline(text: string): string {
  const body = withoutTrailing(text, '\r\n');
  if (body === '') return '';
  return body + (text.includes('\r\n') ? '\r\n' : '\n');
}

/** A line without its last carriage returns and the blanks between and behind them; a line without any stays as it is. */
function withoutCarriageReturns(line: string): string {
  const bare = withoutTrailing(line, ' \t\r');
  const first = line.indexOf('\r', bare.length);
  return first === -1 ? line : line.slice(0, first);
}

/** The text without stray blanks at line ends and with one final newline; line endings stay as they are. */
export function cleanWhitespace(text: string, markdown: boolean): string {
  const lines = text.split('\n').map((line) => {
    const content = withoutCarriageReturns(line);
    return cleanLine(content, markdown) + (line.endsWith('\r') ? '\r' : '');
  });
  return withFinalNewline(lines.join('\n'));
}

export function whitespaceChore(target: string): Chore {
  return {
    kind: 'whitespace',
    target,
    title: `Clean up whitespace in ${target || 'the repository'}`,
    edits: (tree) =>
      changed(
        tree,
        pathsUnder(tree, target)
          // A file that is named is cleaned whatever it is; a folder only in formats where that is safe.
          .filter((path) => path === target || PLAIN.test(path))
          .flatMap((path) => {
            const text = tree.read(path);
            return text === null ? [] : [{ path, text: cleanWhitespace(text, isMarkdown(path)) }];
          }),
      ),
  };
}

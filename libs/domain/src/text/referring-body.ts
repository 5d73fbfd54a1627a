import { cappedText } from './pattern.ts';

const CLOSING_KEYWORD = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)/gi;
const ISSUE_REF =
  /^(?:(?:[\w.-]{1,100}\/[\w.-]{1,100})?#\d|gh-\d|https?:\/\/[\w.:-]{1,200}\/[\w.-]{1,100}\/[\w.-]{1,100}\/(?:issues|pull)\/\d)/i;

/**
 * Returns whether a reference to an issue follows the closing keyword that ends at `at`, separated by blanks and an
 * optional colon.
 */
function closesIssue(text: string, at: number): boolean {
  const rest = text.slice(at);
  const behind = rest.trimStart();
  const target = behind.startsWith(':') ? behind.slice(1) : rest;
  const reference = target.trimStart();
  return reference.length < target.length && ISSUE_REF.test(reference);
}

/**
 * Replaces the words of an agent that would make the host close an issue at the merge by "Refs": "Fixes #N" closes any
 * issue, also the own one before the pipeline records the merge.
 */
export function withoutClosingWords(written: string): string {
  const text = cappedText(written);
  return text.replace(CLOSING_KEYWORD, (word, offset: number) =>
    closesIssue(text, offset + word.length) ? 'Refs' : word,
  );
}

/** Returns the text of a pull request, without closing words and with a reference to its issue. */
export function referringBody(body: string, issueNumber: number): string {
  const neutral = withoutClosingWords(body);
  return neutral.includes(`Refs #${issueNumber}`) ? neutral : `${neutral}\n\nRefs #${issueNumber}`.trim();
}

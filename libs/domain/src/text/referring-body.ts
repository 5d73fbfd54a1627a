import { cappedText } from './pattern.ts';

const CLOSING_KEYWORD = /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)/gi;
const ISSUE_REF = /^(?:[\w.-]{1,100}\/[\w.-]{1,100})?#\d/;

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
 * "Fixes #N" would make the host close the issue before the pipeline records the merge, so such words become "Refs".
 */
export function referringBody(body: string, issueNumber: number): string {
  const text = cappedText(body);
  const neutral = text.replace(CLOSING_KEYWORD, (word, offset: number) =>
    closesIssue(text, offset + word.length) ? 'Refs' : word,
  );
  return neutral.includes(`Refs #${issueNumber}`) ? neutral : `${neutral}\n\nRefs #${issueNumber}`.trim();
}

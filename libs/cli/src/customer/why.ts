import type { IssueWhy } from './operations.ts';
import { cell, lines, text } from './render.ts';

const TRANSITIONS = 5;

/** Formats the explanation of an issue. */
export function whyText(why: IssueWhy): string {
  return lines(
    `${text(why.repo)}#${why.issueNumber}  ${cell(why.title)}`,
    text(why.explanation),
    why.blockReason !== null && `blocked: ${text(why.blockReason)}`,
    list(
      'Waits for',
      why.waitingOn.map(({ detail }) => text(detail)),
    ),
    list(
      'Suggestions',
      why.recommendations.map((one) => text(one)),
    ),
    list(
      'Checks that did not succeed',
      why.checks.filter(({ state }) => state !== 'success').map(({ name, state }) => `${cell(name)}: ${state}`),
    ),
    why.lastError !== null && `\nLast error, ${why.lastError.occurredAt}:\n  ${text(why.lastError.message)}`,
    list(
      'Last transitions',
      why.recentTransitions
        .slice(0, TRANSITIONS)
        .map(
          ({ at, from, to, reason }) => `${at}  ${from ?? '-'} -> ${to}${reason === null ? '' : `  ${cell(reason)}`}`,
        ),
    ),
  );
}

const list = (title: string, items: readonly string[]): string | null =>
  items.length === 0 ? null : `\n${title}:\n${items.map((item) => `  ${item}`).join('\n')}`;

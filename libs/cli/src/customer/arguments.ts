import { UsageError } from '../command/errors.ts';

const SLUG = /^[\w.-]{1,100}\/[\w.-]{1,100}$/;

/** @throws UsageError when the text is not `owner/name`. */
export function repoSlug(text: string): string {
  if (SLUG.test(text)) return text;
  throw new UsageError(`the repository must be given as owner/name, got "${text.slice(0, 200)}"`);
}

export interface IssueRef {
  repo: string;
  number: string;
}

/** @throws UsageError when the text is not `owner/name#number`. */
export function issueRef(text: string): IssueRef {
  const [, repo = '', number = ''] = /^([^#]*)#([1-9]\d{0,14})$/.exec(text) ?? [];
  if (SLUG.test(repo)) return { repo, number };
  throw new UsageError(`the issue must be given as owner/name#number, got "${text.slice(0, 200)}"`);
}

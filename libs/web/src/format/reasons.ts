/** Words for codes that do not read well by themselves. */
const WORDS: Readonly<Record<string, string>> = {
  ci_hard_failure: 'CI failed',
  max_turns: 'turn limit reached',
  no_progress: 'no progress',
  quota_exceeded: 'quota used up',
  budget_exceeded: 'budget used up',
};

/** Returns a code such as a block reason or a task type in words: `merge_conflict` is `merge conflict`. */
export const inWords = (code: string): string => WORDS[code] ?? code.replaceAll(/[_-]/g, ' ');

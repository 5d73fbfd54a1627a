import type { BlockReason } from '../blocks.ts';
import type { State } from '../states.ts';
import type { Decision } from './decide.ts';
import type { Cause } from './facts.ts';
import type { Trigger } from './workflow.ts';

/** Rounds of an issue since the last action of a person, by edge: `<state> <trigger>`. */
export type Rounds = Record<string, number>;

/** Rounds that an issue may begin along one edge before a person is asked; setting `maxRounds` of its repo. */
export const DEFAULT_MAX_ROUNDS = 3;

/** The largest value of that setting. */
export const MAX_ROUNDS = 100;

interface Return {
  blockReason: BlockReason;
  /** Sentence about what was repeated; completed by the number of rounds. */
  sentence: string;
  /** Counted only if an agent reported it: the same trigger may also follow from another issue or from a push. */
  ofOutcome?: true;
}

/** Triggers by which the pipeline itself, without a person, sends an issue back to work that was done before. */
const RETURNS: Partial<Record<Trigger, Return>> = {
  'changes-requested': { blockReason: 'review_rejected', sentence: 'The reviewer requested changes' },
  'checks-failed': { blockReason: 'ci_hard_failure', sentence: 'The checks of the pull request failed' },
  conflict: { blockReason: 'merge_conflict', sentence: 'The branch conflicted with the default branch' },
  behind: { blockReason: 'round_limit', sentence: 'The host reported the updated branch as behind' },
  'not-ready': { blockReason: 'round_limit', sentence: 'The pull request was reported as not ready to be merged' },
  replan: { blockReason: 'round_limit', sentence: 'The developer asked for another plan' },
  depends: { blockReason: 'round_limit', sentence: 'The agent reported dependencies', ofOutcome: true },
  'head-moved': {
    blockReason: 'round_limit',
    sentence: 'The agent reported about another commit than the head of the pull request',
    ofOutcome: true,
  },
};

/** Triggers with which a person decides how the issue continues: its rounds are counted from there. */
const OF_PERSONS: readonly Trigger[] = [
  'operator',
  'cancelled',
  'reimplement',
  'clarified',
  'plan-approved',
  'plan-rejected',
  'review-approved',
  'review-changes-requested',
  'reopened',
];

/** The edge on which a decision begins another round; null = the decision begins none. */
export function roundOf({ from, trigger }: Pick<Decision, 'from' | 'trigger'>, cause: Cause): string | null {
  const found = RETURNS[trigger];
  if (!found || (found.ofOutcome && !cause.outcome)) return null;
  return `${from} ${trigger}`;
}

/** Returns whether rounds are counted from zero after this trigger. */
export const endsRounds = (trigger: Trigger): boolean => OF_PERSONS.includes(trigger);

/** The block of an issue that has begun as many rounds on an edge as its repo allows. */
export function roundLimit(edge: string, maxRounds: number): { blockReason: BlockReason; lastError: string } {
  const { trigger } = partsOf(edge);
  const { blockReason, sentence } = RETURNS[trigger] ?? { blockReason: 'round_limit', sentence: 'A step was repeated' };
  const rounds = maxRounds === 1 ? '1 round' : `${maxRounds} rounds`;
  return { blockReason, lastError: `${sentence} again after ${rounds}, the limit of the repository (maxRounds).` };
}

/** Rounds on one edge as the API returns them. */
export interface RoundCount {
  from: State;
  trigger: Trigger;
  count: number;
  max: number;
}

/** The rounds of an issue in the order of their edges. */
export const roundCounts = (rounds: Rounds, max: number): RoundCount[] =>
  Object.entries(rounds)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([edge, count]) => ({ ...partsOf(edge), count, max }));

function partsOf(edge: string): { from: State; trigger: Trigger } {
  const [from = '', trigger = ''] = edge.split(' ');
  return { from: from as State, trigger: trigger as Trigger };
}

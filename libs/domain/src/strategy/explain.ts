import type { Concern } from './concerns.ts';
import type { StrategyChange, StrategyRisk } from './snapshot.ts';

/** One-line summary of a snapshot. */
export function intentOf(changes: readonly StrategyChange[]): string {
  const parts = [
    phrase('More work on', changes.filter(isMore)),
    phrase('less on', changes.filter(isLess)),
    phrase(
      'another slate for',
      changes.filter(({ field }) => field === 'proposal'),
    ),
  ].filter((part) => part !== '');
  const text = parts.join('; ');
  return text === '' ? 'Leave the tracks as they are.' : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

const isMore = ({ field, from, to }: StrategyChange): boolean => field !== 'proposal' && Number(to) > Number(from);
const isLess = ({ field, from, to }: StrategyChange): boolean => field !== 'proposal' && Number(to) < Number(from);

const phrase = (start: string, changes: readonly StrategyChange[]): string =>
  changes.length === 0 ? '' : `${start} ${changes.map(({ track }) => track).join(', ')}`;

interface Account {
  changes: readonly StrategyChange[];
  risk: StrategyRisk;
  /** Number of changes deferred to another week. */
  further: number;
  unhelped: readonly Concern[];
}

/** The rationale of a snapshot: a line for each change, then unmatched concerns and the reasons for approval. */
export function explain({ changes, risk, further, unhelped }: Account): string {
  return [
    ...changes.map(
      (change) => `${change.reason} (${change.rule}): ${change.field} ${shown(change.from)} -> ${shown(change.to)}`,
    ),
    ...unhelped.map(({ evidence }) => `No track is about this: ${evidence.summary}`),
    ...(further > 0 ? [`${further} further changes are left for another week.`] : []),
    ...risk.needsApproval.map((why) => `Waits for an operator: ${why}`),
  ].join('\n');
}

const shown = (value: StrategyChange['from']): string => {
  if (value === null) return 'none';
  if (!Array.isArray(value)) return String(value);
  return value
    .map(({ size, count, theme }) => `${count} ${size}${theme === undefined ? '' : ` (${theme})`}`)
    .join(' + ');
};

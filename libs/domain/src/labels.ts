import type { State } from './states.ts';

export const ENQUEUE_LABEL = 'svc:enqueue';
export const PAUSED_LABEL = 'svc:paused';
const BLOCKED_LABEL = 'svc:blocked';
export const URGENT_LABEL = 'svc:urgent';

/** Prefix of every label with a meaning to the pipeline. */
export const LABEL_PREFIX = 'svc:';

/** The label that shows a state on the host; `new` has none. */
export const stateLabel = (state: State): string | null => (state === 'new' ? null : `${LABEL_PREFIX}${state}`);

interface Shown {
  state: State;
  isBlocked: boolean;
  isPaused: boolean;
}

/**
 * Exactly the pipeline's own labels that an issue should carry on the host, sorted. An independent copy for tests:
 * libs/testing/src/oracle/consistency.ts.
 */
export function outputLabels(issue: Shown): string[] {
  const labels = [stateLabel(issue.state), issue.isBlocked && BLOCKED_LABEL, issue.isPaused && PAUSED_LABEL];
  return labels.filter((label): label is string => typeof label === 'string').sort();
}

/** Labels that people set and the pipeline reads, with the descriptions that hosts show where a label is selected. */
export const INBOUND_LABEL_TEXTS: Readonly<Record<string, string>> = {
  [ENQUEUE_LABEL]: 'Hand this issue to the pipeline',
  [URGENT_LABEL]: 'The pipeline works on this issue before others',
};

export const INBOUND_LABELS: readonly string[] = Object.keys(INBOUND_LABEL_TEXTS);

/** True for labels that the pipeline writes. People's labels, and those with inbound meaning only, are not changed. */
export const isOutputLabel = (label: string): boolean =>
  label.startsWith(LABEL_PREFIX) && !INBOUND_LABELS.includes(label);

/** The change that turns the labels an issue has into the labels it should have; null when they agree. */
export function labelSwap(
  stored: readonly string[],
  wanted: readonly string[],
): { remove: string[]; add: string[] } | null {
  const remove = stored.filter((label) => (isOutputLabel(label) || label === ENQUEUE_LABEL) && !wanted.includes(label));
  const add = wanted.filter((label) => !stored.includes(label));
  return remove.length + add.length === 0 ? null : { remove, add };
}

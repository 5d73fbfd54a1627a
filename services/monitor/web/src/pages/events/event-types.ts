import { formatUsd } from '@pipeline/web/format/money.ts';
import { labelOf } from '@pipeline/web/states/states.ts';
import type { Reply } from '../../api/types.ts';

export type PipelineEvent = Reply<'listPipelineEvents'>['items'][number];

/** Types that the pipeline records; others are shown as they are. */
export const EVENT_TYPES: readonly string[] = [
  'state_transition',
  'task_enqueued',
  'task_claimed',
  'task_completed',
  'task_failed',
  'task_reclaimed',
  'issue_blocked',
  'issue_unblocked',
  'issue_paused',
  'issue_resumed',
  'pr_opened',
  'pr_merged',
  'pr_closed',
  'pr_reverted',
  'review_submitted',
  'cost_recorded',
  'budget_threshold',
  'projection_failed',
  'dead_letter_created',
  'finding_opened',
  'finding_closed',
  'strategy_activated',
  'config_reloaded',
  'operator_action',
];

/** `pr_merged` as words: `PR merged`. */
export function typeLabel(type: string): string {
  const words = type.replaceAll('_', ' ').replace(/^pr\b/, 'PR');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

/** Fields in the order in which they are read; ids are left to the details. */
const SHOWN = [
  'track',
  'taskType',
  'blockReason',
  'classification',
  'prNumber',
  'verdict',
  'model',
  'percent',
  'action',
  'actorId',
  'type',
  'version',
  'reason',
  'error',
];

/** Words before bare numbers. */
const NUMBERED: Readonly<Record<string, string>> = { prNumber: 'PR #', version: 'version ' };

/** Summarizes an event in one line. */
export function summaryOf({ eventType, payload }: PipelineEvent): string {
  if (eventType === 'state_transition') return `${labelOf(textOf(payload.from))} → ${labelOf(textOf(payload.to))}`;
  const cost = typeof payload.costUsd === 'number' ? formatUsd(payload.costUsd) : '';
  const shown = SHOWN.map((name) => ({ text: textOf(payload[name]), words: NUMBERED[name] ?? '' }))
    .filter(({ text }) => text !== '')
    .map(({ text, words }) => words + text);
  return [cost, ...shown].filter(Boolean).join(' · ');
}

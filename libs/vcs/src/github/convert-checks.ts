import { type CheckState, cappedText, type HostCheck, MAX_HOST_LINE } from '@pipeline/domain';

/** Fields of a check run that are read; REST responses and webhook payloads both have them. */
export interface RunFields {
  id: number;
  name: string;
  status: string;
  conclusion: string | null;
  html_url?: string | null | undefined;
  details_url?: string | null | undefined;
  started_at?: string | null | undefined;
  completed_at?: string | null | undefined;
  check_suite?: { id?: number | undefined } | null | undefined;
}

export interface StatusFields {
  id: number;
  context: string;
  state: string;
  target_url?: string | null | undefined;
  updated_at: string;
}

/** Conclusions with which the host lets a required check pass. */
const PASSED: readonly (string | null)[] = ['success', 'neutral', 'skipped'];

/** Conclusions without a verdict about the code: the check has to run again, or a person has to act. */
const UNDECIDED: readonly (string | null)[] = ['cancelled', 'stale', 'action_required'];

const lineOf = (text: string): string => cappedText(text, MAX_HOST_LINE);

export function toCheckOfRun(run: RunFields): HostCheck {
  const done = run.status === 'completed';
  return {
    kind: 'check-run',
    name: lineOf(run.name),
    state: done ? stateOf(run.conclusion) : 'pending',
    conclusion: done ? run.conclusion : null,
    url: run.details_url ?? run.html_url ?? null,
    hostId: run.id,
    ...(run.check_suite?.id !== undefined && { suiteId: run.check_suite.id }),
    at: run.completed_at ?? run.started_at ?? new Date(0).toISOString(),
  };
}

function stateOf(conclusion: string | null): CheckState {
  if (PASSED.includes(conclusion)) return 'success';
  return UNDECIDED.includes(conclusion) ? 'pending' : 'failure';
}

const STATES: Record<string, CheckState> = { success: 'success', pending: 'pending' };

export const toCheckOfStatus = (status: StatusFields): HostCheck => ({
  kind: 'status',
  name: lineOf(status.context),
  state: STATES[status.state] ?? 'failure',
  conclusion: status.state === 'pending' ? null : status.state,
  url: status.target_url ?? null,
  hostId: status.id,
  at: status.updated_at,
});

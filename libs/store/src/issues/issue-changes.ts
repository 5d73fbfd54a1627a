import type { PlanStatus, Rounds } from '@pipeline/domain';
import { type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import type { DB } from '../driver/database.generated.ts';
import type { Change, Tx } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';
import { type Params, preparedPatch } from '../driver/prepared.ts';

/** Changes columns of an issue whose row the caller has locked. */
export async function updateIssue(tx: Tx, tenantId: number, issueId: number, change: Change<'issues'>): Promise<void> {
  await tx
    .updateTable('issues')
    .set({ ...change, updated_at: svcNow })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', issueId)
    .execute();
}

type HostView = Pick<
  Selectable<DB['issues']>,
  'url' | 'host_updated_at' | 'labels' | 'text_changed_at' | 'text_changed_by'
>;

const followed = preparedPatch('follow-host', 'issues', (p: Params<HostView>) => ({
  url: p('url'),
  host_updated_at: p('host_updated_at'),
  labels: p('labels'),
  text_changed_at: p('text_changed_at'),
  text_changed_by: p('text_changed_by'),
  updated_at: svcNow,
}));

/** Records what the host shows of a locked issue, beside its text. */
export const followHost = (tx: Tx, issue: { tenant_id: number; id: number }, view: HostView): Promise<void> =>
  followed.run(tx, { ...view, tenantId: issue.tenant_id, id: issue.id });

const text = preparedPatch('set-text', 'issues', (p: Params<{ title: string; body: string }>) => ({
  title: p('title'),
  body: p('body'),
  updated_at: svcNow,
}));

/** Replaces the text of a locked issue. */
export const setText = (
  tx: Tx,
  issue: { tenant_id: number; id: number },
  { title, body }: { title: string; body: string },
): Promise<void> => text.run(tx, { title, body, tenantId: issue.tenant_id, id: issue.id });

/** Columns that change with a new state. */
type EnteredState = Pick<
  Selectable<DB['issues']>,
  | 'state'
  | 'is_blocked'
  | 'block_reason'
  | 'block_classification'
  | 'blocked_from_state'
  | 'question'
  | 'last_error'
  | 'error_fingerprint'
  | 'is_paused'
  | 'quota_waited_ms'
  | 'reached_states'
>;

const enter = preparedPatch('enter-state', 'issues', (p: Params<EnteredState & { autoUnblockIn: string | null }>) => ({
  state: p('state'),
  is_blocked: p('is_blocked'),
  block_reason: p('block_reason'),
  block_classification: p('block_classification'),
  blocked_from_state: p('blocked_from_state'),
  question: p('question'),
  last_error: p('last_error'),
  error_fingerprint: p('error_fingerprint'),
  is_paused: p('is_paused'),
  quota_waited_ms: p('quota_waited_ms'),
  reached_states: p('reached_states'),
  // Not before the change that this transaction waited for.
  state_entered_at: sql`greatest(svc_now(), state_entered_at)`,
  last_event_at: svcNow,
  updated_at: svcNow,
  auto_unblock_at: sql`svc_now() + ${p('autoUnblockIn')}::interval`,
}));

/**
 * Moves a locked issue into a state and restarts its time in state.
 * @param autoUnblockInMs when a block is lifted automatically; null = never.
 */
export async function enterState(
  tx: Tx,
  issue: { tenant_id: number; id: number },
  change: EnteredState,
  autoUnblockInMs: number | null,
): Promise<void> {
  const autoUnblockIn = autoUnblockInMs === null ? null : `${autoUnblockInMs} ms`;
  await enter.run(tx, { ...change, tenantId: issue.tenant_id, id: issue.id, autoUnblockIn });
}

/** Columns that change when something else stops an issue that is stopped already. */
type Stop = Pick<
  Selectable<DB['issues']>,
  'block_reason' | 'block_classification' | 'last_error' | 'error_fingerprint' | 'auto_unblock_at'
>;

const stop = preparedPatch('set-stop', 'issues', (p: Params<Stop>) => ({
  block_reason: p('block_reason'),
  block_classification: p('block_classification'),
  last_error: p('last_error'),
  error_fingerprint: p('error_fingerprint'),
  auto_unblock_at: sql`${p('auto_unblock_at')}::timestamptz`,
  updated_at: svcNow,
}));

/** Replaces why a locked issue is stopped, and when its block is lifted automatically. */
export const setStop = (tx: Tx, issue: { tenant_id: number; id: number }, change: Stop): Promise<void> =>
  stop.run(tx, { ...change, tenantId: issue.tenant_id, id: issue.id });

interface PlanChange {
  plan: string;
  planned_files: string[];
  plan_version: number;
  plan_status: PlanStatus | null;
}

const planned = preparedPatch('set-plan', 'issues', (p: Params<PlanChange>) => ({
  plan: p('plan'),
  planned_files: p('planned_files'),
  plan_version: p('plan_version'),
  plan_status: p('plan_status'),
  updated_at: svcNow,
}));

/** Replaces the plan of a locked issue. */
export const setPlan = (tx: Tx, tenantId: number, issueId: number, change: PlanChange): Promise<void> =>
  planned.run(tx, { tenantId, id: issueId, ...change });

const planStatus = preparedPatch('set-plan-status', 'issues', (p: Params<{ status: PlanStatus }>) => ({
  plan_status: p('status'),
  updated_at: svcNow,
}));

/** Records how the pending plan of a locked issue was answered. */
export const setPlanStatus = (tx: Tx, tenantId: number, issueId: number, status: PlanStatus): Promise<void> =>
  planStatus.run(tx, { tenantId, id: issueId, status });

const submitted = preparedPatch('set-submitted-files', 'issues', (p: Params<{ files: string[] }>) => ({
  submitted_files: p('files'),
  updated_at: svcNow,
}));

/** Records the files that the newest submission for a locked issue changed. */
export const setSubmittedFiles = (tx: Tx, tenantId: number, issueId: number, files: string[]): Promise<void> =>
  submitted.run(tx, { tenantId, id: issueId, files });

/** Records the rounds of a locked issue. */
export const setRounds = (tx: Tx, tenantId: number, issueId: number, rounds: Rounds): Promise<void> =>
  updateIssue(tx, tenantId, issueId, { rounds: jsonb(rounds) as never });

const show = preparedPatch('show-issue', 'issues', (p: Params<{ labels: string[]; statusComment: string | null }>) => ({
  labels: p('labels'),
  status_comment_body: p('statusComment'),
  updated_at: svcNow,
}));

/** Records what the host shows of a locked issue once the outbox has drained. */
export async function showIssue(
  tx: Tx,
  issue: { tenant_id: number; id: number },
  shown: { labels: string[]; statusComment: string | null },
): Promise<void> {
  await show.run(tx, { tenantId: issue.tenant_id, id: issue.id, ...shown });
}

const paused = preparedPatch('pause-issue', 'issues', () => ({
  is_paused: sql.lit(true),
  paused_at: svcNow,
  updated_at: svcNow,
}));
const resumed = preparedPatch('resume-issue', 'issues', () => ({
  is_paused: sql.lit(false),
  paused_at: sql.lit(null),
  updated_at: svcNow,
}));

/** Pauses or resumes a locked issue. */
export const setPaused = (tx: Tx, tenantId: number, issueId: number, isPaused: boolean): Promise<void> =>
  (isPaused ? paused : resumed).run(tx, { tenantId, id: issueId });

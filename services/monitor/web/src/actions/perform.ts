import { ApiFailure } from '@pipeline/web/api/failure.ts';
import { queryClient } from '@pipeline/web/api/query-client.ts';
import { createSignal } from '@pipeline/web/shared/signal.ts';
import { after, delay } from '@pipeline/web/timing/timers.ts';
import { request } from '../api/request.ts';
import type { ActionIssue, ActionPlan } from './action.ts';
import { addRecord, retireRecord, updateRecord } from './records.ts';

/** An action of grade 0 can be undone for this time; other successes are shown as long. */
const SHOWN_MS = 8_000;
const FOLLOW_EVERY_MS = 2_000;
const FOLLOW_ATTEMPTS = 30;

/** The action whose dialog is open. */
export const openAction = createSignal<ActionPlan | null>(null);

/** Begins an action: at once for grade 0, with a dialog otherwise. */
export function startAction(plan: ActionPlan): void {
  if (plan.grade === 0) void perform(plan, { reason: undefined, choice: undefined });
  else openAction.set(plan);
}

/**
 * Sends the action and follows it: sent, accepted by the API, on the host. Nothing is shown before it happened.
 * @returns why the API did not accept it; null = it did.
 */
export async function perform(
  plan: ActionPlan,
  input: { reason: string | undefined; choice: string | undefined },
): Promise<string | null> {
  const stopping = new AbortController();
  const id = addRecord({
    title: `${plan.verb} ${plan.object}`,
    phase: 'sent',
    text: 'sent',
    ...(plan.issue && { issue: plan.issue }),
    ...(plan.canStop && { stop: () => stopping.abort() }),
  });
  try {
    const onProgress = (done: number, total: number): void => updateRecord(id, { progress: { done, total } });
    const answer = await plan.run({ ...input, onProgress, signal: stopping.signal });
    const { text, hasFailed } = typeof answer === 'string' ? { text: answer, hasFailed: false } : answer;
    const phase = hasFailed ? 'failed' : 'accepted';
    updateRecord(id, { phase, text, ...(plan.grade === 0 && plan.undo && { undo: plan.undo }) });
    if (hasFailed) return null;
  } catch (error) {
    const code = error instanceof ApiFailure ? error.code : 'UNEXPECTED';
    const text = error instanceof Error ? error.message : String(error);
    updateRecord(id, { phase: 'failed', text, code });
    return text;
  } finally {
    void queryClient.invalidateQueries();
  }
  after(SHOWN_MS, () => updateRecord(id, { undo: undefined }));
  const end = plan.issue ? follow(id, plan.issue) : Promise.resolve();
  void end.then(() => after(SHOWN_MS, () => retireRecord(id)));
  return null;
}

async function follow(id: number, issue: { repo: string; issueNumber: number }): Promise<void> {
  const end = await followToHost(issue, new AbortController().signal).catch(() => 'timeout' as const);
  if (end === 'on-host') updateRecord(id, { phase: 'on-host', text: 'on the host' });
  if (end === 'failed') updateRecord(id, { phase: 'failed', text: 'A write to the host failed', code: 'HOST_WRITE' });
}

/**
 * Waits until no host write of the issue is pending.
 * @returns `timeout` after one minute; `failed` when a write of the issue failed.
 */
async function followToHost(issue: ActionIssue, signal: AbortSignal): Promise<'on-host' | 'failed' | 'timeout'> {
  for (let attempt = 0; attempt < FOLLOW_ATTEMPTS && !signal.aborted; attempt += 1) {
    await delay(FOLLOW_EVERY_MS, signal);
    const { projections } = await request('listProjections', {}, signal);
    const own = projections.filter(
      ({ repoOwner, repoName, issueNumber }) =>
        `${repoOwner}/${repoName}` === issue.repo && issueNumber === issue.issueNumber,
    );
    if (own.some(({ status }) => status === 'failed')) return 'failed';
    if (own.length === 0) return 'on-host';
  }
  return 'timeout';
}

import { plural } from '@pipeline/web/format/number.ts';
import { request } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import type { ActionPlan, Progress } from './action.ts';
import type { IssueTarget } from './issue-actions.ts';

export type BulkAction = 'pause' | 'resume' | 'unblock' | 'retry' | 'cancel';

const PLANS: Readonly<Record<BulkAction, { verb: string; effect: string; grade: 1 | 3 }>> = {
  pause: { verb: 'Pause', grade: 1, effect: 'No new task of these issues is claimed; running tasks may finish.' },
  resume: { verb: 'Resume', grade: 1, effect: 'The label svc:paused is removed and the work is enqueued again.' },
  unblock: {
    verb: 'Unblock',
    grade: 1,
    effect:
      'Each issue returns to the state in which it was blocked, and its work starts again. Open dependencies are treated as resolved.',
  },
  retry: { verb: 'Retry', grade: 1, effect: 'The work is repeated. A blocked issue stays blocked until it succeeds.' },
  cancel: { verb: 'Cancel', grade: 3, effect: 'The issues move to done for good and their tasks are cancelled.' },
};

/** Number of affected issues from which on the person types it. */
const TYPED_FROM = 21;
/** Issues per call: few enough that stopping takes effect soon; the API accepts 500. */
const PER_CALL = 100;

/** An action on many issues. It runs in calls of at most 100 issues, between which it can be stopped; each issue is changed or not, never half. */
export function bulkPlan(action: BulkAction, issues: readonly IssueTarget[], onDone: () => void): ActionPlan {
  const { verb, effect, grade } = PLANS[action];
  return {
    grade: issues.length >= TYPED_FROM ? 3 : grade,
    verb,
    object: plural(issues.length, 'issue'),
    effect,
    count: issues.length,
    reason: 'optional',
    canStop: true,
    run: async ({ reason, onProgress, signal }) => {
      const total = emptyTotal();
      let refusal: string | null = null;
      try {
        await runBulk(action, issues, { total, reason, onProgress, signal });
      } catch (error) {
        if (reachedOf(total) === 0) throw error;
        refusal = error instanceof Error ? error.message : String(error);
      }
      // After a refused call the selection stays, so that the rest can be done by repeating the action.
      if (refusal === null) onDone();
      const text = textOf(total, issues.length, { isStopped: signal.aborted, refusal });
      return total.failed.length > 0 || refusal !== null ? { text, hasFailed: true } : text;
    },
  };
}

interface RunOptions {
  /** Counts what was done, also when a later call throws. */
  total: Total;
  reason: string | undefined;
  onProgress: Progress;
  signal: AbortSignal;
}

interface Total {
  succeeded: number;
  /** Issues that were done, or no longer met the filter when their turn came. */
  skipped: number;
  failed: Failed[];
}

const emptyTotal = (): Total => ({ succeeded: 0, skipped: 0, failed: [] });

const reachedOf = ({ succeeded, skipped, failed }: Total): number => succeeded + skipped + failed.length;

/** @throws ApiFailure when a call is refused; what the calls before it did is in `total`. */
async function runBulk(action: BulkAction, issues: readonly IssueTarget[], options: RunOptions): Promise<void> {
  const { total } = options;
  let sent = 0;
  for (const { repo, tenant, numbers } of batchesOf(issues)) {
    if (options.signal.aborted) break;
    sent += numbers.length;
    const filter = { repo, issueNumbers: numbers, ...(tenant !== undefined && { tenant }) };
    let after: string | undefined;
    do {
      const answer = await request('actOnIssues', {
        body: {
          action,
          filter,
          dryRun: false,
          ...(options.reason !== undefined && { reason: options.reason }),
          ...(after !== undefined && { after }),
        },
      });
      total.succeeded += answer.succeeded;
      total.skipped += answer.skipped;
      total.failed.push(...answer.failed);
      after = answer.next ?? undefined;
      // The API leaves issues that are done out of its counts.
      if (after === undefined) total.skipped += sent - reachedOf(total);
      options.onProgress(reachedOf(total), issues.length);
    } while (after !== undefined && !options.signal.aborted);
  }
}

interface Ending {
  isStopped: boolean;
  /** Why a call was refused; null = none was. */
  refusal: string | null;
}

/** The result in words. @param count number of selected issues. */
function textOf(total: Total, count: number, { isStopped, refusal }: Ending): string {
  const { succeeded, skipped, failed } = total;
  const parts = [`${succeeded} changed`];
  if (skipped > 0) parts.push(`${skipped} no longer applied`);
  if (failed.length > 0) parts.push(`${failed.length} failed (${namesOf(failed)})`);
  const left = count - reachedOf(total);
  if (refusal !== null) parts.push(`the other ${left} may be unchanged: ${refusal}`);
  else if (isStopped && left > 0) parts.push(`stopped before the other ${left}`);
  return parts.join(', ');
}

type Failed = Reply<'actOnIssues'>['failed'][number];
const MOST_NAMED = 5;

/** The first of the issues that failed, each with its code. */
function namesOf(failed: readonly Failed[]): string {
  const named = failed.slice(0, MOST_NAMED).map(({ repo, issueNumber, code }) => `${repo}#${issueNumber} ${code}`);
  return [...named, ...(failed.length > MOST_NAMED ? ['…'] : [])].join(', ');
}

/** Returns the issues by repo and tenant, in batches that one call accepts. */
export function batchesOf(issues: readonly IssueTarget[]) {
  const groups = Map.groupBy(issues, ({ repo, tenant }) => JSON.stringify([repo, tenant]));
  return [...groups.values()].flatMap((group) => {
    const { repo = '', tenant } = group[0] ?? {};
    const batches = Array.from({ length: Math.ceil(group.length / PER_CALL) }, (_, index) =>
      group.slice(index * PER_CALL, (index + 1) * PER_CALL),
    );
    return batches.map((batch) => ({ repo, tenant, numbers: batch.map(({ issueNumber }) => issueNumber) }));
  });
}

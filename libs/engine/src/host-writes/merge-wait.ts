import { isDeepStrictEqual } from 'node:util';
import { type ChecksWait, MINUTE_MS, namedChecks, SECOND_MS } from '@pipeline/domain';
import {
  type ProjectionRow,
  type PullRequestRow,
  postponeProjection,
  setChecksWait,
  storeNow,
  updateProjection,
} from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { projectIssue } from '../outbox/project.ts';
import { moveBy } from '../workflow/move.ts';

/** The merge of an issue whose row, and whose outbox entry, the caller has locked. */
export interface HeldMerge {
  subject: IssueContext & { pr: PullRequestRow };
  projection: ProjectionRow;
  /** An earlier attempt may have reached the host; the next one looks before it writes. */
  mayHaveHappened: boolean;
}

/**
 * Keeps a merge waiting for the checks of its head: the entry is due again after `checks.pollSeconds`, and the host shows
 * what it waits for. After `checks.timeoutMinutes` of waiting for the same head the issue is blocked with `ci_timeout`.
 */
export async function keepWaiting(unit: TransactionContext, held: HeldMerge, wait: ChecksWait): Promise<void> {
  const { subject, projection, mayHaveHappened } = held;
  const { pr } = subject;
  const { timeoutMinutes, pollSeconds } = unit.settings.checks;
  const isSameHead = (pr.checks_wait as ChecksWait | null)?.sha === wait.sha;
  const since = isSameHead ? pr.checks_wait_since : null;
  const waitedMs = since === null ? 0 : Date.parse(await storeNow(unit.tx)) - Date.parse(since);
  if (waitedMs >= timeoutMinutes * MINUTE_MS) return timeOut(unit, held, wait);
  await postponeProjection(unit.tx, unit.tenantId, projection.id, {
    attempts: projection.attempts,
    attempt_started_at: mayHaveHappened ? projection.attempt_started_at : null,
    error: null,
    delayMs: pollSeconds * SECOND_MS,
  });
  if (isDeepStrictEqual(pr.checks_wait, wait)) return;
  await setChecksWait(unit.tx, unit.tenantId, pr.id, wait);
  await projectIssue(unit, { ...subject, pr: { ...pr, checks_wait: wait as never } });
}

async function timeOut(unit: TransactionContext, held: HeldMerge, wait: ChecksWait): Promise<void> {
  const { subject } = held;
  const lastError =
    wait.verdict === 'missing'
      ? `No check was reported for ${wait.sha} within ${unit.settings.checks.timeoutMinutes} minutes.`
      : `These checks of ${wait.sha} did not end within ${unit.settings.checks.timeoutMinutes} minutes: ${namedChecks(wait.waitsFor)}.`;
  await endWaiting(unit, held, lastError);
  await moveBy(unit, subject, {
    cause: { trigger: 'exhausted', blockReason: 'ci_timeout' },
    actor: { ...ENGINE, reason: lastError },
    stop: { blockClassification: 'unknown', lastError },
  });
}

/** The merge is not wanted any more: its entry is discarded, and the pull request waits for nothing. */
export async function endWaiting(
  unit: TransactionContext,
  { subject, projection }: Pick<HeldMerge, 'subject' | 'projection'>,
  error: string,
): Promise<void> {
  const settled = { status: 'discarded', attempt_started_at: null, retry_after: null, error } as const;
  await updateProjection(unit.tx, unit.tenantId, projection.id, settled);
  await setChecksWait(unit.tx, unit.tenantId, subject.pr.id, null);
}

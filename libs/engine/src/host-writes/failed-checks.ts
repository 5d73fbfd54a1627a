import { type ChecksWait, MAX_RED_HEADS, namedChecks, type ReportedCheck, resultKey } from '@pipeline/domain';
import { checksRedOnHeads, insertRemarks } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import { ENGINE, type IssueContext } from '../context/issue-context.ts';
import { moveBy } from '../workflow/move.ts';
import { endWaiting, type HeldMerge, keepWaiting } from './merge-wait.ts';

/** Check runs of one head that are run again. */
const MAX_RERUNS = 5;

interface RedHead {
  sha: string;
  /** Checks that let the merge fail. */
  failed: readonly ReportedCheck[];
}

/**
 * Settles a merge whose head has red checks: the issue goes back to development. A check that is red on the third head
 * of the issue is run again once, and decides nothing before its result is another one; then a person decides.
 * @returns the checks to run again after the commit.
 */
export async function settleRedHead(
  unit: TransactionContext,
  held: HeldMerge,
  { sha, failed }: RedHead,
): Promise<readonly ReportedCheck[]> {
  const { subject } = held;
  const names = failed.map(({ name }) => name);
  const key = { tenantId: unit.tenantId, issueId: subject.issue.id };
  const lasting = await checksRedOnHeads(unit.tx, key, { names, heads: MAX_RED_HEADS });
  // Another red check decides whatever these result in.
  const runs = failed.every(({ name, kind }) => kind === 'check-run' && lasting.includes(name)) ? failed : [];
  const asked = rerunOf(subject.pr.checks_wait as ChecksWait | null, sha);
  const waiting = { sha, verdict: 'pending' as const, waitsFor: lasting };
  if (asked === undefined && runs.length > 0 && runs.length <= MAX_RERUNS) {
    return (await keepWaiting(unit, held, { ...waiting, rerun: runs.map(resultKey) })) ? runs : [];
  }
  if (asked !== undefined && failed.some((check) => asked.includes(resultKey(check)))) {
    await keepWaiting(unit, held, { ...waiting, rerun: asked });
    return [];
  }
  const reason = `failed checks of ${sha}: ${namedChecks(names)}`;
  await endWaiting(unit, held, reason);
  if (lasting.length > 0) await askPersonAboutChecks(unit, subject, lasting);
  else await returnWithFailedChecks(unit, subject, { failed, reason });
  return [];
}

/** Results of this head that were asked to be replaced; undefined = none were yet. */
export const rerunOf = (wait: ChecksWait | null, sha: string): string[] | undefined =>
  wait?.sha === sha ? wait.rerun : undefined;

async function askPersonAboutChecks(
  unit: TransactionContext,
  subject: IssueContext,
  names: readonly string[],
): Promise<void> {
  const lastError = `These checks are red on ${MAX_RED_HEADS} heads or more: ${namedChecks(names)}. See whether they fail without the change, too.`;
  await moveBy(unit, subject, {
    cause: { trigger: 'exhausted', blockReason: 'ci_hard_failure' },
    actor: { ...ENGINE, reason: lastError },
    stop: { blockClassification: 'unknown', lastError },
  });
}

/** Sends an issue back to development, with the failed checks and the ends of their logs for its agent. */
export async function returnWithFailedChecks(
  unit: TransactionContext,
  subject: IssueContext,
  { failed, reason }: { failed: readonly ReportedCheck[]; reason: string },
): Promise<void> {
  const comments = failed.map((check) => ({ kind: 'review' as const, author: 'checks', body: commentOn(check) }));
  await insertRemarks(unit.tx, unit.tenantId, subject.issue.id, comments);
  await moveBy(unit, subject, { cause: { trigger: 'checks-failed' }, actor: { ...ENGINE, reason } });
}

const commentOn = ({ name, conclusion, url, logTail }: ReportedCheck): string =>
  [
    `The check ${name} failed (${conclusion ?? 'failure'})${url === null ? '' : `: ${url}`}`,
    ...(logTail ? [logTail] : []),
  ].join('\n\n');

import {
  AppError,
  type Explanation,
  explainWait,
  MAX_ISSUE_NUMBER,
  normalizeError,
  type RoundCount,
  roundCounts,
  traceIdOfIssue,
} from '@pipeline/domain';
import {
  type ActiveTask,
  issueWhy,
  type ReadScope,
  type StateTransition,
  type Store,
  type WhyRow,
} from '@pipeline/store';
import { repoNotFound } from '../repos/repo-not-found.ts';

type Found = NonNullable<WhyRow['issue']>;

/** Why an issue is where it is, in words and in rows (interface: the issue why record). */
export interface IssueWhy
  extends Explanation,
    Pick<
      Found,
      | 'issueNumber'
      | 'title'
      | 'state'
      | 'stateEnteredAt'
      | 'isBlocked'
      | 'isPaused'
      | 'blockReason'
      | 'blockClassification'
      | 'blockedFromState'
    > {
  repo: string;
  recentTransitions: StateTransition[];
  lastError: (NonNullable<Found['lastError']> & { errorPattern: string | null }) | null;
  activeTasks: ActiveTask[];
  textChange: Found['textChange'];
  checks: Found['headChecks'];
  rounds: RoundCount[];
  traceId: string;
  serverTimestamp: string;
}

/**
 * One statement on `reads`.
 * @throws AppError REPO_NOT_FOUND for a repo out of scope, ISSUE_NOT_FOUND.
 */
export async function explainIssue(
  store: Store,
  scope: ReadScope,
  { slug, number }: { slug: string; number: number },
): Promise<IssueWhy> {
  // Larger numbers belong to no issue; the store would refuse them.
  const row = await issueWhy(store.reads, scope, slug, number > MAX_ISSUE_NUMBER ? 0 : number);
  if (!row) throw repoNotFound();
  if (!row.issue) throw new AppError('ISSUE_NOT_FOUND', `Issue not found: ${row.repo}#${number}`);
  return whyOf(row, row.issue);
}

const ACCEPT_TEXT =
  'Read the changed text on the host, then add the label svc:enqueue again or accept the text to have agents work on it.';

function whyOf({ repo, now }: WhyRow, issue: Found): IssueWhy {
  const { tasks, transitions, lastError, textChange, headChecks, traced, rounds, maxRounds, ...facts } = issue;
  const explained = explainWait({
    ...facts,
    repo,
    task: tasks[0] ?? null,
    lastTrigger: transitions[0]?.trigger ?? null,
  });
  return {
    repo,
    issueNumber: issue.issueNumber,
    title: issue.title,
    state: issue.state,
    stateEnteredAt: issue.stateEnteredAt,
    isBlocked: issue.isBlocked,
    isPaused: issue.isPaused,
    blockReason: issue.blockReason,
    blockClassification: issue.blockClassification,
    blockedFromState: issue.blockedFromState,
    ...explained,
    recommendations: [...explained.recommendations, ...(textChange ? [ACCEPT_TEXT] : [])],
    textChange,
    checks: headChecks,
    rounds: roundCounts(rounds, maxRounds),
    recentTransitions: transitions.map(({ trigger: _, ...transition }) => transition),
    lastError: lastError && { ...lastError, errorPattern: normalizeError(lastError.message) || null },
    activeTasks: tasks.map(({ type, status, claimedBy }) => ({ taskType: type, status, claimedBy })),
    traceId: traceIdOfIssue(traced),
    serverTimestamp: now,
  };
}

import type { History, Period, State } from '@pipeline/domain';
import {
  autonomous,
  cycles,
  firstMerged,
  idsMovedTo,
  mergedIssues,
  middle,
  minutesBetween,
  type Naive,
  pct,
  prsOf,
  share,
  within,
} from './terms.ts';

const inStates = (h: History, ...states: State[]) => {
  let n = 0;
  for (const issue of h.issues) for (const state of states) if (issue.state === state) n += 1;
  return n;
};
const firstOpened = (h: History, id: number) =>
  prsOf(h, id)
    .map((pr) => pr.openedAt)
    .sort((a, b) => a - b)[0];
const merged = (h: History, p: Period) => h.pullRequests.filter((pr) => pr.mergedAt !== null && within(p, pr.mergedAt));

/** Metrics of issues and their pull requests. */
export const ISSUES: Readonly<Record<string, Naive>> = {
  open_issues: (h) => h.issues.filter((i) => i.state !== 'done').filter((i) => !i.isPaused).length,
  in_flight: (h) =>
    inStates(
      h,
      'analyzing',
      'planning',
      'ready-for-dev',
      'in-review',
      'changes-requested',
      'merge-pending',
      'waiting-for-subtasks',
    ),
  in_progress: (h) => inStates(h, 'dependency-blocked', 'failure-blocked', 'waiting-for-subtasks'),
  blocked: (h) => inStates(h, 'dependency-blocked', 'failure-blocked', 'needs-clarification'),
  awaiting_review: (h) => inStates(h, 'human-review-ready'),
  throughput: (h, p) => idsMovedTo(h, p, 'done').length,
  cycle_time: (h, p) =>
    middle(
      h.issues.flatMap((i) => {
        const [opened, mergedAt] = [firstOpened(h, i.id), firstMerged(h, i.id)];
        if (!idsMovedTo(h, p, 'done').includes(i.id) || opened === undefined || mergedAt === undefined) return [];
        return [minutesBetween(i.createdAt, opened) + minutesBetween(opened, mergedAt)];
      }),
    ),
  success_rate(h, p) {
    const won = idsMovedTo(h, p, 'done').filter((id) => prsOf(h, id).some((pr) => pr.mergedAt !== null)).length;
    const paused = h.issues.filter((i) => i.isPaused && i.pausedAt !== null && within(p, i.pausedAt)).length;
    return pct(won, won + paused);
  },
  time_to_first_pr: (h, p) =>
    middle(
      h.issues.flatMap((i) => {
        const opened = firstOpened(h, i.id);
        return opened !== undefined && within(p, opened) ? [opened - i.createdAt] : [];
      }),
    ),
  review_pass_rate: (h, p) =>
    share(merged(h, p).filter((pr) => cycles(h, pr.issueId, pr.mergedAt ?? 0) === 0).length, merged(h, p).length),
  avg_review_cycles(h, p) {
    let all = 0;
    for (const pr of merged(h, p)) all += cycles(h, pr.issueId, pr.mergedAt ?? 0);
    return share(all, merged(h, p).length);
  },
  pr_revert_rate: (h, p) => share(merged(h, p).filter((pr) => pr.isReverted).length, merged(h, p).length),
  agent_attribution: (h, p) => share(merged(h, p).filter((pr) => pr.agentAuthored).length, merged(h, p).length),
  autonomous_merge_rate: (h, p) => pct(autonomous(h, p).length, mergedIssues(h, p).length),
};

import { medianOf, percentOf, round } from './arithmetic.ts';
import { iso } from './names.ts';
import type { Rows } from './rows.ts';

const DAY_MS = 86_400_000;
const UNIT_MS: Record<string, number> = { h: DAY_MS / 24, d: DAY_MS };
const REVIEWS = ['changes-requested', 'review-changes-requested'];

interface Scored {
  agent: string | null;
  model: string | null;
  isCompared: boolean;
  passedReview: boolean;
  passedChecks: boolean;
  isChecked: boolean;
  isReverted: boolean;
  ms: number;
  calls: Rows['invocations'];
}

/** Computes the score of a merged issue; null for one without a submitted develop run. */
function scoreOf(rows: Rows, pr: Rows['pullRequests'][number], mergedAt: number): Scored | null {
  const runs = rows.runs.filter(({ issueId, taskType }) => issueId === pr.issueId && taskType === 'develop');
  const first = runs.find(({ outcome, endedAt }) => outcome === 'submitted' && endedAt !== null && endedAt <= mergedAt);
  if (!first) return null;
  const callsOf = (id: number) => rows.invocations.filter(({ runId }) => runId === id);
  const call = callsOf(first.id).sort((a, b) => a.index - b.index)[0];
  const returns = rows.transitions
    .filter(({ issueId, to, at }) => issueId === pr.issueId && to === 'changes-requested' && at < mergedAt)
    .map(({ trigger }) => trigger);
  const work = runs.filter(({ at }) => at < mergedAt);
  const reverting = rows.pullRequests.find(({ repoId, number }) => repoId === pr.repoId && number === pr.revertedBy);
  const revertedAt = reverting?.mergedAt ?? null;
  return {
    agent: call?.program ?? (first.comparedAgent === '' ? null : first.comparedAgent),
    model: call?.model ?? null,
    isCompared: first.comparedAgent !== '',
    passedReview: !returns.some((trigger) => REVIEWS.includes(trigger)),
    passedChecks: !returns.includes('checks-failed'),
    isChecked: rows.checks.some(({ repoId, sha }) => repoId === pr.repoId && sha === pr.headSha),
    isReverted: revertedAt !== null && revertedAt <= mergedAt + 14 * DAY_MS,
    ms: work.reduce((sum, run) => sum + (run.status === 'cancelled' ? 0 : (run.endedAt ?? run.at) - run.at), 0),
    calls: work.flatMap(({ id }) => callsOf(id)),
  };
}

/** Own merged pull requests, the first of each issue. */
const firstMerges = ({ pullRequests }: Rows): Rows['pullRequests'] =>
  [...Map.groupBy(pullRequests, ({ issueId }) => issueId)].flatMap(([issueId, all]) => {
    const merged = all.filter(({ byAgent, mergedAt }) => byAgent && mergedAt !== null);
    merged.sort((a, b) => (a.mergedAt ?? 0) - (b.mergedAt ?? 0) || a.number - b.number);
    return issueId === null ? [] : merged.slice(0, 1);
  });

export function scoreboardOf(
  rows: Rows,
  { window, tasks }: { window: string; tasks: 'all' | 'compared' },
  now: number,
) {
  const from = now - Number(window.slice(0, -1)) * (UNIT_MS[window.slice(-1)] ?? 0);
  const scored = firstMerges(rows).flatMap((pr) => {
    const { mergedAt } = pr;
    if (mergedAt === null || mergedAt < from || mergedAt > now) return [];
    return scoreOf(rows, pr, mergedAt) ?? [];
  });
  const counted = scored.filter(({ isCompared }) => isCompared || tasks === 'all');
  const items = [...Map.groupBy(counted, ({ agent, model }) => JSON.stringify([agent, model]))].map(([key, all]) => {
    const [agent, model] = JSON.parse(key);
    const checked = all.filter(({ isChecked }) => isChecked);
    const priced = all.filter(({ calls }) => calls.length > 0 && calls.every(({ isReported }) => isReported));
    return {
      agent,
      model,
      mergedIssues: all.length,
      firstPassReviewPct: percentOf(all.filter(({ passedReview }) => passedReview).length, all.length),
      firstPassCiPct: percentOf(checked.filter(({ passedChecks }) => passedChecks).length, checked.length),
      checkedIssues: checked.length,
      reverts: all.filter(({ isReverted }) => isReverted).length,
      wallTimeMinutes: round((medianOf(all.map(({ ms }) => ms)) ?? 0) / 60_000, 1),
      costPerMergeUsd: meanUsd(priced),
      pricedIssues: priced.length,
      unreportedCosts: all.flatMap(({ calls }) => calls).filter(({ isReported }) => !isReported).length,
    };
  });
  return { window, tasks, items: items.sort(byRank), serverTimestamp: iso(now) };
}

/** Mean in USD to four decimals, half up, computed in whole millionths. */
function meanUsd(priced: readonly Scored[]): number | null {
  if (priced.length === 0) return null;
  const millionths = priced
    .flatMap(({ calls }) => calls)
    .reduce((sum, { usd }) => sum + BigInt(Math.round((usd ?? 0) * 1e6)), 0n);
  const n = BigInt(priced.length) * 100n;
  return Number((2n * millionths + n) / (2n * n)) / 1e4;
}

type Ranked = { mergedIssues: number; agent: string | null; model: string | null };

/** Most issues first; what is not reported comes last. */
function byRank(a: Ranked, b: Ranked): number {
  const byName = (one: string | null, other: string | null) =>
    one === other ? 0 : one === null ? 1 : other === null || one < other ? -1 : 1;
  return b.mergedIssues - a.mergedIssues || byName(a.agent, b.agent) || byName(a.model, b.model);
}

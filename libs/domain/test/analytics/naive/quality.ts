import type { History, Period, State } from '@pipeline/domain';
import {
  autonomous,
  dollars,
  idsMovedTo,
  mergedIssues,
  middle,
  type Naive,
  pct,
  prsOf,
  share,
  tenth,
  within,
} from './terms.ts';

/** Replays each issue: it is active when some period in a state that is not done overlaps the window. */
const active = (h: History, p: Period) =>
  h.issues.filter((issue) => {
    const stretches: [number, State][] = [[issue.enteredAt, 'new']];
    for (const t of h.transitions) if (t.issueId === issue.id) stretches.push([t.at, t.to]);
    return stretches.some(([start, state], i) => {
      const end = stretches[i + 1]?.[0] ?? Number.MAX_VALUE;
      return state !== 'done' && start <= p.now && end > p.from;
    });
  }).length;
const doneSeconds = (h: History, p: Period) =>
  h.issues.flatMap((i) => {
    const moves = h.transitions.filter((t) => t.issueId === i.id);
    const ends = moves.filter((t) => t.to === 'done' && within(p, t.at)).map((t) => t.at);
    return ends.length === 0 ? [] : [(Math.max(...ends) - Math.min(...moves.map((t) => t.at))) / 1_000];
  });
const again = (h: History, p: Period) =>
  h.runs
    .filter((r) => r.attempt !== 0 && within(p, r.claimedAt) && !['retrospect', 'code-map-scan'].includes(r.taskType))
    .filter((r, n, all) => all.findIndex((o) => o.workId === r.workId && o.attempt === r.attempt) === n);
const byModel = (models: string[], of: (model: string) => number) =>
  Object.fromEntries([...new Set(models)].map((model) => [model, of(model)]));
const stopRate = (h: History, p: Period, reason: string) => {
  const calls = h.invocations.filter((c) => within(p, c.at));
  return byModel(
    calls.map((c) => c.model),
    (model) => {
      const mine = calls.filter((c) => c.model === model);
      return tenth((mine.filter((c) => c.stopReason === reason).length / mine.length) * 100);
    },
  );
};
const countOfIssues = (facts: readonly { issueId: number | null }[]) => new Set(facts.map((f) => f.issueId)).size;

/** Quality metrics, by week and by model. */
export const QUALITY: Readonly<Record<string, Naive>> = {
  plan_drift_rate(h, p) {
    let [more, fewer, known] = [0, 0, 0];
    for (const { plannedFiles: planned, actualFiles: actual, at } of h.retrospectives) {
      if (!within(p, at) || planned === null || actual === null) continue;
      known += 1;
      const unplanned = actual.filter((f) => !planned.includes(f)).length;
      const left = planned.filter((f) => !actual.includes(f)).length;
      if (unplanned > 0) more += 1;
      else if (left > 0) fewer += 1;
    }
    return share(more + fewer, known);
  },
  outcome_distribution(h, p) {
    const counts: Record<string, number> = {};
    for (const { outcome, at } of h.retrospectives) {
      if (outcome !== null && within(p, at)) counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  },
  block_rate: (h, p) => share(idsMovedTo(h, p, 'dependency-blocked', 'needs-clarification').length, active(h, p)),
  failure_blocked_rate: (h, p) => share(idsMovedTo(h, p, 'failure-blocked').length, active(h, p)),
  mean_cost_usd(h, p) {
    const booked = h.costs.filter((c) => c.issueId !== null && within(p, c.at));
    return share(dollars(booked.map((c) => c.usd)), countOfIssues(booked));
  },
  mean_turns(h, p) {
    const calls = h.invocations.filter((c) => c.issueId !== null && within(p, c.at));
    let turns = 0;
    for (const call of calls) turns += call.turns;
    return share(turns, countOfIssues(calls));
  },
  reimplement_loop_rate(h, p) {
    const loops = h.transitions.filter((t) => {
      if (!within(p, t.at)) return false;
      if (t.trigger === 'replan') return prsOf(h, t.issueId).some((pr) => pr.openedAt < t.at);
      return ['reimplement', 'conflict'].includes(t.trigger);
    });
    return share(countOfIssues(loops), active(h, p));
  },
  dead_letter_rate(h, p) {
    const ended = idsMovedTo(h, p, 'done');
    return share(ended.filter((id) => h.deadLetters.some((d) => d.issueId === id)).length, ended.length);
  },
  cycle_time_p50: (h, p) => middle(doneSeconds(h, p)),
  autonomy_rate: (h, p) => pct(autonomous(h, p).length, mergedIssues(h, p).length),
  completed: (h, p) => idsMovedTo(h, p, 'done').length,
  recovered: (h, p) =>
    idsMovedTo(h, p, 'done').filter((id) =>
      h.transitions.some((t) => t.issueId === id && ['failure-blocked', 'dependency-blocked'].includes(t.to)),
    ).length,
  cycle_p50: (h, p) => middle(doneSeconds(h, p)),
  cycle_p90: (h, p) => middle(doneSeconds(h, p), 0.9),
  dead_letters: (h, p) => h.deadLetters.filter((d) => within(p, d.at)).length,
  tasks_retried: (h, p) => again(h, p).length,
  total_retries_consumed(h, p) {
    let all = 0;
    for (const run of again(h, p)) all += run.attempt;
    return all;
  },
  model_spend_share(h, p) {
    const booked = h.costs.filter((c) => within(p, c.at));
    const all = dollars(booked.map((c) => c.usd));
    return byModel(
      booked.map((c) => c.model),
      (model) => pct(dollars(booked.filter((c) => c.model === model).map((c) => c.usd)), all) ?? 0,
    );
  },
  max_turns_rate: (h, p) => stopRate(h, p, 'max_turns'),
  no_progress_rate: (h, p) => stopRate(h, p, 'no_progress'),
};

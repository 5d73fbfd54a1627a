import type { History, MetricValue, Period, State } from '@pipeline/domain';

/**
 * Every metric once more, word by word from its rule and without a thought for cost: what the registry's functions are
 * held against.
 */
type Naive = (h: History, p: Period) => MetricValue;

const DAY = 86_400_000;
const within = (p: Period, at: number | null): boolean => at !== null && !(at < p.from) && !(at > p.now);
const middle = (numbers: number[], share = 0.5): number | null => {
  if (numbers.length === 0) return null;
  const ordered = [...numbers].sort((a, b) => a - b);
  const place = (ordered.length - 1) * share;
  const low = Math.trunc(place);
  const [a = 0, b = a] = ordered.slice(low, low + 2);
  return a * (1 - (place - low)) + b * (place - low);
};
const tenth = (x: number) => Math.round(x * 10) / 10;
const inStates = (h: History, ...states: State[]) => {
  let n = 0;
  for (const issue of h.issues) for (const state of states) if (issue.state === state) n += 1;
  return n;
};
const idsMovedTo = (h: History, p: Period, ...states: State[]) =>
  h.issues
    .map((i) => i.id)
    .filter((id) => h.transitions.some((t) => t.issueId === id && states.includes(t.to) && within(p, t.at)));
const prsOf = (h: History, id: number) => h.pullRequests.filter((pr) => pr.issueId === id);
const firstOpened = (h: History, id: number) =>
  prsOf(h, id)
    .map((pr) => pr.openedAt)
    .sort((a, b) => a - b)[0];
const firstMerged = (h: History, id: number) =>
  prsOf(h, id)
    .flatMap((pr) => (pr.mergedAt === null ? [] : [pr.mergedAt]))
    .sort((a, b) => a - b)[0];
const cycles = (h: History, id: number | null, before: number) => {
  let n = 0;
  for (const t of h.transitions) if (t.issueId === id && t.to === 'changes-requested' && t.at < before) n += 1;
  return n;
};
const merged = (h: History, p: Period) => h.pullRequests.filter((pr) => pr.mergedAt !== null && within(p, pr.mergedAt));
const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);
const pct = (part: number, whole: number) => (whole > 0 ? tenth((part / whole) * 100) : null);
const dollars = (amounts: number[]) => {
  let millionths = 0n;
  for (const usd of amounts) millionths += BigInt(Math.round(usd * 1e6));
  return Number((millionths + 50n) / 100n) / 1e4;
};
const mergedIssues = (h: History, p: Period) =>
  h.issues.filter((i) => {
    const at = firstMerged(h, i.id);
    return at !== undefined && within(p, at);
  });
const autonomous = (h: History, p: Period) =>
  mergedIssues(h, p).filter(
    (i) => cycles(h, i.id, firstMerged(h, i.id) ?? 0) === 0 && prsOf(h, i.id).every((pr) => pr.agentAuthored),
  );
const minutesBetween = (from: number, to: number) => (to - from) / 60_000;

/** Replays each issue: it is active when some stretch of a state that is not done touches the window. */
const active = (h: History, p: Period) =>
  h.issues.filter((issue) => {
    const stretches: [number, State][] = [[issue.enteredAt, 'new']];
    for (const t of h.transitions) if (t.issueId === issue.id) stretches.push([t.at, t.to]);
    return stretches.some(([start, state], i) => {
      const end = stretches[i + 1]?.[0] ?? Number.MAX_VALUE;
      return state !== 'done' && start <= p.now && end > p.from;
    });
  }).length;

const samples = (h: History, now: number, repoId: number, agent: string) =>
  h.runs
    .filter((r) => r.repoId === repoId && r.agent === agent && r.isCompleted)
    .filter((r) => r.finishedAt !== null && r.finishedAt >= now - 7 * DAY && r.finishedAt <= now)
    .map((r) => (r.finishedAt ?? 0) - r.claimedAt);
const estimate = (h: History, now: number, repoId: number, agent: string) => {
  const found = samples(h, now, repoId, agent);
  const value = middle(found);
  return found.length < 5 || value === null ? null : Math.round(value);
};
const waiting = (h: History) => h.tasks.filter((t) => t.status !== 'claimed');
const doneSeconds = (h: History, p: Period) =>
  h.issues.flatMap((i) => {
    const moves = h.transitions.filter((t) => t.issueId === i.id);
    const ends = moves.filter((t) => t.to === 'done' && within(p, t.at)).map((t) => t.at);
    return ends.length === 0 ? [] : [(Math.max(...ends) - Math.min(...moves.map((t) => t.at))) / 1_000];
  });
const again = (h: History, p: Period) =>
  h.runs.filter(
    (r) => r.attempt !== 0 && within(p, r.claimedAt) && !['retrospect', 'code-map-scan'].includes(r.taskType),
  );
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
const isKnown = (h: History, number: number) => h.issues.some((i) => i.number === number);
const isDone = (h: History, number: number) => h.issues.some((i) => i.number === number && i.state === 'done');
/** Minute by minute would do; second by second is exact on a grid of minutes. */
const degraded = (h: History, p: Period) => {
  const minutes = new Set<number>();
  for (const { kind, from, to } of h.workerPeriods) {
    if (kind === 'online') continue;
    const end = Math.min(to ?? p.now, from + 3_600_000, p.now);
    for (let t = Math.max(from, p.from); t < end; t += 60_000) minutes.add(t);
  }
  return minutes.size * 60;
};
const wantedLabels = (i: History['issues'][number]) => [
  ...(i.state === 'new' ? [] : [`svc:${i.state}`]),
  ...(i.isBlocked ? ['svc:blocked'] : []),
  ...(i.isPaused ? ['svc:paused'] : []),
];

export const NAIVE: Readonly<Record<string, Naive>> = {
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
  cost_today: (h, p) =>
    dollars(h.costs.filter((c) => c.at >= p.now - (p.now % DAY) && c.at <= p.now).map((c) => c.usd)),
  cost: (h, p) => dollars(h.costs.filter((c) => within(p, c.at)).map((c) => c.usd)),
  dlq_depth: (h) => h.deadLetters.filter((d) => !d.isResolved).length,
  pending_tasks: (h) => waiting(h).length,
  avg_queue_wait(h, p) {
    let all = 0;
    for (const t of waiting(h)) all += p.now - t.createdAt;
    return share(all, waiting(h).length);
  },
  oldest_pending_age: (h, p) =>
    waiting(h)
      .map((t) => p.now - t.createdAt)
      .sort((a, b) => b - a)[0] ?? null,
  est_duration(h, p) {
    const found: Record<string, number> = {};
    for (const { repoId, agent } of h.runs) {
      const ms = estimate(h, p.now, repoId, agent);
      if (ms !== null) found[`${repoId}/${agent}`] = ms;
    }
    return found;
  },
  projected_drain(h, p) {
    let drain: number | null = null;
    for (const t of waiting(h)) {
      const ms = estimate(h, p.now, t.repoId, t.agent);
      if (ms !== null) drain = (drain ?? 0) + ms;
    }
    return drain;
  },
  write_queue: (h) => h.projections.filter((w) => ['pending', 'failed'].includes(w.status)).length,
  worker_count: (h, p) =>
    h.workers.filter((w) => !w.hasLeft && w.lastHeartbeatAt !== null && w.lastHeartbeatAt >= p.now - 30_000).length,
  si_tracks: (h) => h.tracks.length,
  si_tracks_overdue(h, p) {
    let late = 0;
    for (const { enabled, cadence, cooldown_minutes: minutes, schedule_since, last_run_at, next_run_at } of h.tracks) {
      const since = Date.parse(last_run_at ?? schedule_since);
      const scheduled = next_run_at === null ? p.now : Date.parse(next_run_at);
      if (enabled && p.now > (cadence.kind === 'cron' ? scheduled : since + minutes * 60_000)) late += 1;
    }
    return late;
  },
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
  fleet_degraded_time: degraded,
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
  sla_breach(h, p) {
    const late: Record<string, number> = {};
    for (const i of h.issues) {
      const limit = h.warnAfterMinutes[i.state];
      const minutes = minutesBetween(i.stateEnteredAt, p.now);
      if (i.state !== 'done' && !i.isPaused && limit !== undefined && minutes >= limit) late[`#${i.number}`] = minutes;
    }
    return late;
  },
  stale_blocked: (h) =>
    h.issues.filter(
      (i) =>
        i.isBlocked &&
        i.state !== 'done' &&
        !h.edges.some((e) => e.kind === 'depends_on' && e.child === i.number && e.isActive),
    ).length,
  stale_subtask_edge: (h) =>
    h.issues.filter(
      (i) => i.state === 'done' && h.edges.some((e) => e.kind === 'subtask' && e.parent === i.number && e.isActive),
    ).length,
  orphan_missing_from_pg: (h) => h.openOnHost.filter((number) => !isKnown(h, number)).length,
  si_linkage_gap: (h) => h.siIssues.filter((s) => s.completedAt === null && isDone(h, s.number)).length,
  label_drift: (h) =>
    h.issues.filter((i) => {
      if (i.state === 'done' || h.projections.some((w) => w.issueNumber === i.number && w.status === 'pending'))
        return false;
      const shown = i.labels.filter((l) => l.startsWith('svc:') && l !== 'svc:enqueue' && l !== 'svc:urgent');
      return shown.sort().join() !== wantedLabels(i).sort().join();
    }).length,
  orphan_dependency_edge(h) {
    const waits = new Set<number>();
    for (const e of h.edges) {
      if (!isKnown(h, e.child) || !isKnown(h, e.parent)) waits.add(e.kind === 'depends_on' ? e.child : e.parent);
    }
    return waits.size;
  },
};

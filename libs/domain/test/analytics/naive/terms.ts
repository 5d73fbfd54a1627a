import type { History, MetricValue, Period, State } from '@pipeline/domain';

/** A metric computed literally from its rule, regardless of cost. */
export type Naive = (h: History, p: Period) => MetricValue;

export const within = (p: Period, at: number | null): boolean => at !== null && !(at < p.from) && !(at > p.now);

export const middle = (numbers: number[], share = 0.5): number | null => {
  if (numbers.length === 0) return null;
  const ordered = [...numbers].sort((a, b) => a - b);
  const place = (ordered.length - 1) * share;
  const low = Math.trunc(place);
  const [a = 0, b = a] = ordered.slice(low, low + 2);
  return a * (1 - (place - low)) + b * (place - low);
};

export const tenth = (x: number) => Math.round(x * 10) / 10;

export const idsMovedTo = (h: History, p: Period, ...states: State[]) =>
  h.issues
    .map((i) => i.id)
    .filter((id) => h.transitions.some((t) => t.issueId === id && states.includes(t.to) && within(p, t.at)));

export const prsOf = (h: History, id: number) => h.pullRequests.filter((pr) => pr.issueId === id);

export const firstMerged = (h: History, id: number) =>
  prsOf(h, id)
    .flatMap((pr) => (pr.mergedAt === null ? [] : [pr.mergedAt]))
    .sort((a, b) => a - b)[0];

export const cycles = (h: History, id: number | null, before: number) => {
  let n = 0;
  for (const t of h.transitions) if (t.issueId === id && t.to === 'changes-requested' && t.at < before) n += 1;
  return n;
};

export const share = (part: number, whole: number) => (whole > 0 ? part / whole : null);

export const pct = (part: number, whole: number) => (whole > 0 ? tenth((part / whole) * 100) : null);

export const dollars = (amounts: number[]) => {
  let millionths = 0n;
  for (const usd of amounts) millionths += BigInt(Math.round(usd * 1e6));
  return Number((millionths + 50n) / 100n) / 1e4;
};

export const mergedIssues = (h: History, p: Period) =>
  h.issues.filter((i) => {
    const at = firstMerged(h, i.id);
    return at !== undefined && within(p, at);
  });

export const autonomous = (h: History, p: Period) =>
  mergedIssues(h, p).filter(
    (i) => cycles(h, i.id, firstMerged(h, i.id) ?? 0) === 0 && prsOf(h, i.id).every((pr) => pr.agentAuthored),
  );

export const minutesBetween = (from: number, to: number) => (to - from) / 60_000;

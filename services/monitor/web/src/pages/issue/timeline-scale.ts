import type { State, Timeline } from '../../api/types.ts';

export interface Span {
  from: number;
  to: number;
}

export interface Stay extends Span {
  state: State;
}

export interface Run extends Span {
  id: string;
  title: string;
  status: string | null;
  costUsd: number | null;
}

/** Returns the time spent in each state, oldest first; the last stay ends now, except in `done`. */
export function staysOf({ stateTransitions, serverTimestamp }: Timeline): Stay[] {
  const now = Date.parse(serverTimestamp);
  return stateTransitions.flatMap(({ to: state, at }, index) => {
    const next = stateTransitions[index + 1];
    if (next === undefined && state === 'done') return [];
    const from = Date.parse(at);
    return [{ state, from, to: Math.max(from, next === undefined ? now : Date.parse(next.at)) }];
  });
}

/** Returns the runs of agents, oldest first. An entry is written when its run ends; one without duration still runs. */
export function runsOf({ entries, serverTimestamp }: Timeline): Run[] {
  return entries
    .filter(({ kind }) => kind === 'agent-run')
    .map(({ id, title, status, costUsd, timestamp, durationMs }) => {
      const from = Date.parse(timestamp);
      const to = durationMs === null ? Date.parse(serverTimestamp) : from + durationMs;
      return { id, title, status, costUsd, from, to: Math.max(from, to) };
    });
}

/** Returns the whole time that the timeline covers. */
export function spanOf(timeline: Timeline): Span {
  const stays = staysOf(timeline);
  const times = [...stays, ...runsOf(timeline)].flatMap(({ from, to }) => [from, to]);
  return { from: Math.min(...times), to: Math.max(...times) };
}

/** Returns the share of the time in which no agent worked, 0 to 1. */
export function idleShare(timeline: Timeline): number {
  const { from, to } = spanOf(timeline);
  if (!(to > from)) return 0;
  const busy = joined(runsOf(timeline)).reduce((sum, span) => sum + span.to - span.from, 0);
  return Math.max(0, 1 - busy / (to - from));
}

/** Returns the spans with overlapping ones joined. */
export function joined(spans: readonly Span[]): Span[] {
  const result: Span[] = [];
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = result.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else result.push({ from, to });
  }
  return result;
}

/** An idle gap takes this share of the busy time when it is collapsed. */
const COLLAPSED_SHARE = 0.03;

/** Returns a function from time to place, 0 to 1. Collapsed, every gap between runs has the same small width. */
export function scaleOf(timeline: Timeline, isCollapsed: boolean): (time: number) => number {
  const { from, to } = spanOf(timeline);
  const length = Math.max(1, to - from);
  if (!isCollapsed) return (time) => (Math.min(to, Math.max(from, time)) - from) / length;
  const busy = joined(runsOf(timeline));
  const gap = Math.max(1, busy.reduce((sum, span) => sum + span.to - span.from, 0) * COLLAPSED_SHARE);
  const pieces: (Span & { width: number })[] = [];
  let at = from;
  for (const span of busy) {
    if (span.from > at) pieces.push({ from: at, to: span.from, width: gap });
    pieces.push({ ...span, width: span.to - span.from });
    at = span.to;
  }
  if (to > at) pieces.push({ from: at, to, width: gap });
  const total = pieces.reduce((sum, { width }) => sum + width, 0) || 1;
  return (time) => {
    let before = 0;
    for (const piece of pieces) {
      if (time <= piece.to) {
        const share = piece.to > piece.from ? (Math.max(piece.from, time) - piece.from) / (piece.to - piece.from) : 0;
        return (before + share * piece.width) / total;
      }
      before += piece.width;
    }
    return 1;
  };
}

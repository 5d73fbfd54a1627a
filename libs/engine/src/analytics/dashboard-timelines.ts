import { type FleetRepo, type TimelineInFlight, timelinesInFlight } from '@pipeline/store';
import type { Engine } from '../context/context.ts';
import type { Timeline } from '../issues/timeline.ts';
import { stalenessOf } from '../issues/timeline.ts';
import { namesOf, repoKey } from './dashboard-repo-names.ts';

/** Bounds of the timelines of one dashboard; a request may limit the issues further. */
const TIMELINE_BOUNDS = { issues: 50, entries: 20, bytes: 256 * 1024 } as const;

/** The newest part of the timeline of an issue in flight. */
interface RecentTimeline extends Timeline {
  /** True = there are older entries or transitions. */
  truncated: boolean;
  /** See WholeTimeline. */
  staleSinceMs?: number;
}

export interface ReadTimeline {
  tenantId: number;
  repoId: number;
  timeline: RecentTimeline;
}

/**
 * Returns the newest parts of the timelines of the issues in flight, latest state entry first. One statement, within
 * TIMELINE_BOUNDS.
 */
export async function readTimelines(engine: Engine): Promise<ReadTimeline[]> {
  const { issues, entries } = TIMELINE_BOUNDS;
  const read = await timelinesInFlight(engine.store.db, { issues, entries: entries + 1 });
  const { stallMs } = engine.settings();
  return read.map(({ tenantId, repoId, ...found }) => ({ tenantId, repoId, timeline: recent(found, stallMs) }));
}

function recent({ repo, now, issue }: Pick<TimelineInFlight, 'repo' | 'now' | 'issue'>, stallMs: number) {
  const { entries } = TIMELINE_BOUNDS;
  const timeline = {
    repo,
    ...issue,
    serverTimestamp: now,
    truncated: issue.entries.length > entries || issue.stateTransitions.length > entries,
    entries: issue.entries.slice(-entries),
    stateTransitions: issue.stateTransitions.slice(-entries),
  };
  const staleSinceMs = stalenessOf(timeline, stallMs);
  return { ...timeline, ...(staleSinceMs !== null && { staleSinceMs }) };
}

/**
 * Returns the entries of the dashboard's `issueTimelines` (interface: Dashboard) for enabled repos: key and JSON text,
 * latest state entry first. The key is the issue number, or `owner/repo#N` when an earlier entry has the same number.
 * Timelines that exceed the byte limit are omitted.
 */
export function timelineTexts(repos: readonly FleetRepo[], timelines: readonly ReadTimeline[]): [string, string][] {
  const names = namesOf(repos);
  const texts = new Map<string, string>();
  let bytes = 0;
  for (const { timeline, ...repo } of timelines) {
    const name = names.get(repoKey(repo));
    if (name === undefined) continue;
    const number = String(timeline.issueNumber);
    const key = texts.has(number) ? `${name}#${number}` : number;
    const text = JSON.stringify(timeline);
    const size = Buffer.byteLength(key) + Buffer.byteLength(text);
    if (bytes + size > TIMELINE_BOUNDS.bytes) continue;
    bytes += size;
    texts.set(key, text);
  }
  return [...texts];
}

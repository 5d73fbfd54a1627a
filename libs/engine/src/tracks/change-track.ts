import { isDeepStrictEqual } from 'node:util';
import { AppError, type TrackChange, type TrackField, type TrackSettings } from '@pipeline/domain';
import { lockTrack, storeNow, type TrackRow, updateTrack } from '@pipeline/store';
import type { TransactionContext } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordOperation } from '../records/records.ts';
import { checkCadence, nextRunOf } from './cadence.ts';
import { settingsOfTrack, timesOf } from './track-view.ts';

/** One changed setting, in the form of audits and strategies. */
interface ChangedField {
  field: TrackField;
  from: unknown;
  to: unknown;
}

/** The name of the action on a track, for the audit. */
interface TrackAction {
  action: string;
  actor: Actor;
  /** Further data, such as the version of a strategy. */
  facts?: Record<string, unknown>;
}

export const trackNotFound = (name: string, why = ''): AppError =>
  new AppError('TRACK_NOT_FOUND', `Track "${name}" not found${why}`);

/**
 * Changes settings of a track inside a transaction; absent fields stay. Recorded with the previous values, also when
 * nothing differs.
 * @returns the changes.
 * @throws AppError TRACK_NOT_FOUND, INVALID_BODY for an invalid schedule.
 */
export async function changeTrack(
  unit: TransactionContext,
  { repoId, name }: { repoId: number; name: string },
  change: TrackChange,
  { action, actor, facts = {} }: TrackAction,
): Promise<ChangedField[]> {
  const track = await lockTrack(unit.tx, { tenantId: unit.tenantId, repoId, name });
  if (!track) throw trackNotFound(name);
  const changes = await applyChange(unit, track, change);
  recordTrack(unit, track, { action, actor, facts: { changes, ...facts } });
  return changes;
}

/** The same for a locked track, without a record. */
export async function applyChange(
  unit: TransactionContext,
  track: TrackRow,
  change: TrackChange,
): Promise<ChangedField[]> {
  const now = await storeNow(unit.tx);
  if (change.cadence) checkCadence(change.cadence, new Date(now));
  const before = settingsOfTrack(track);
  const changes = changesOf(before, change);
  if (changes.length === 0) return [];
  const after: TrackSettings = { ...before, ...definedOf(change) };
  const cadenceIsNew = changes.some(({ field }) => field === 'cadence');
  // A schedule counts from when it is set or enabled: earlier times are not run.
  const schedule_since = cadenceIsNew || (after.enabled && !before.enabled) ? now : track.schedule_since;
  await updateTrack(unit.tx, track, {
    label: after.label,
    cooldown_minutes: after.cooldown_minutes,
    enabled: after.enabled,
    proposal: after.proposal,
    cadence_kind: after.cadence.kind,
    cron_expr: after.cadence.kind === 'cron' ? after.cadence.expr : null,
    weight: after.weight,
    schedule_since,
    next_run_at: isoOf(nextRunOf({ ...timesOf(track), ...after, schedule_since })),
  });
  return changes;
}

export const isoOf = (date: Date | null): string | null => date?.toISOString() ?? null;

const definedOf = (change: TrackChange) =>
  Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as {
    [F in TrackField]?: TrackSettings[F];
  };

/** Only fields that differ from the current value. */
function changesOf(before: TrackSettings, change: TrackChange): ChangedField[] {
  const given = definedOf(change);
  return (Object.keys(given) as TrackField[])
    .filter((field) => field in before && !isDeepStrictEqual(before[field], given[field]))
    .map((field) => ({ field, from: before[field], to: given[field] }));
}

/** Records actor, action and reason for a track, in the log of its repo. */
export function recordTrack(
  unit: TransactionContext,
  track: Pick<TrackRow, 'repo_id' | 'name'>,
  { action, actor, facts = {} }: TrackAction,
): void {
  const about = { issue: { id: null, repo_id: track.repo_id, issue_number: null } };
  recordOperation(unit, about, actor, { action, track: track.name, ...facts });
  // The change may make it due.
  unit.notify('svc_cache');
}

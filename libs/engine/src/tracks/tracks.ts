import { AppError, isStorable, type TrackChange } from '@pipeline/domain';
import {
  allTracks,
  deleteTrack,
  insertTrack,
  type RepoRow,
  storeNow,
  type TrackWithRepo,
  tracksOfRepo,
  updateTrack,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { findRepoAt, type RepoAddress } from '../repos/repo-address.ts';
import { checkCadence, nextRunOf } from './cadence.ts';
import { applyChange, changeTrack, isoOf, recordTrack, trackNotFound } from './change-track.ts';
import { type Track, timesOf, trackOf } from './track-view.ts';

export interface TrackAddress extends RepoAddress {
  name: string;
}

/**
 * The tracks of a repo, by name.
 * @throws AppError as `findRepoAt`.
 */
export async function listTracks(engine: Engine, address: RepoAddress): Promise<Track[]> {
  const repo = await findRepoAt(engine, address);
  const rows = await tracksOfRepo(engine.store.db, { tenantId: repo.tenant_id, repoId: repo.id });
  const now = new Date(await storeNow(engine.store.db));
  return rows.map((row) => trackOf(row, now));
}

export type FleetTrack = Track & Pick<TrackWithRepo, 'owner' | 'repo_name' | 'tenant'>;

/** The tracks of every enabled repo, by repo and name. */
export async function listAllTracks(engine: Engine): Promise<FleetTrack[]> {
  const rows = await allTracks(engine.store.db);
  const now = new Date(await storeNow(engine.store.db));
  return rows.map((row) => {
    const { owner, repo_name, tenant } = row;
    return { ...trackOf(row, now), owner, repo_name, tenant };
  });
}

/** All settings of a new track; absent ones take their default, also if the track exists. */
interface TrackInput {
  name: string;
  label?: string | undefined;
  cooldown_minutes?: number | undefined;
  enabled?: boolean | undefined;
}

/**
 * Creates a track, or updates an existing one. Its slate, cadence, weight and prompts stay.
 * @throws AppError as `findRepoAt`.
 */
export async function putTrack(engine: Engine, address: RepoAddress, input: TrackInput, actor: Actor): Promise<void> {
  const repo = await findRepoAt(engine, address);
  const { name } = input;
  const at = { tenantId: repo.tenant_id, repoId: repo.id, name };
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const defaults = unit.settings.tracks;
    const settings = {
      label: input.label ?? '',
      cooldown_minutes: input.cooldown_minutes ?? defaults.cooldownMinutes,
      enabled: input.enabled ?? true,
    };
    const { track, made } = await insertTrack(unit.tx, at, {
      name,
      label: settings.label,
      enabled: settings.enabled,
      cooldownMinutes: settings.cooldown_minutes,
      weight: defaults.weight,
    });
    if (made) {
      await updateTrack(unit.tx, track, { next_run_at: isoOf(nextRunOf(timesOf(track))) });
      recordTrack(unit, track, { action: 'track-create', actor, facts: { ...settings, weight: defaults.weight } });
    } else {
      const changes = await applyChange(unit, track, settings);
      recordTrack(unit, track, { action: 'track-update', actor, facts: { changes } });
    }
  });
}

/**
 * Changes some settings of a track. `action` is the name of the action in the audit.
 * @throws AppError TRACK_NOT_FOUND also for an unknown repo, INVALID_BODY for an invalid schedule, INVALID_INPUT when
 * the tenant must be named.
 */
export async function updateTrackAt(
  engine: Engine,
  address: TrackAddress,
  change: TrackChange,
  { action, actor }: { action: string; actor: Actor },
): Promise<void> {
  // Invalid values are refused before anything is looked up.
  if (change.cadence) checkCadence(change.cadence, new Date(await storeNow(engine.store.db)));
  const repo = await repoOfTrack(engine, address);
  const { name } = address;
  await inTenant(engine, repo.tenant_id, (unit) =>
    changeTrack(unit, { repoId: repo.id, name }, change, { action, actor }),
  );
}

/**
 * Deletes a track. An unknown track or repo is no error.
 * @throws AppError INVALID_INPUT when the tenant must be named.
 */
export async function removeTrack(engine: Engine, address: TrackAddress, actor: Actor): Promise<void> {
  const repo = await repoOfTrack(engine, address).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'TRACK_NOT_FOUND') return null;
    throw error;
  });
  if (!repo) return;
  const { name } = address;
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const deleted = await deleteTrack(unit.tx, { tenantId: unit.tenantId, repoId: repo.id, name });
    if (deleted) recordTrack(unit, { repo_id: repo.id, name }, { action: 'track-delete', actor });
  });
}

/** The repo of a track's address: an unknown repo has no tracks. */
export async function repoOfTrack(engine: Engine, address: TrackAddress): Promise<RepoRow> {
  if (!isStorable(address.name)) throw trackNotFound(address.name);
  try {
    return await findRepoAt(engine, address);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
    throw trackNotFound(address.name, `: no repo ${address.owner}/${address.repo} is enabled`);
  }
}

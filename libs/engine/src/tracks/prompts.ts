import { AppError } from '@pipeline/domain';
import {
  findPrompt,
  findTrack,
  insertPrompt,
  lockTrack,
  type PromptTexts,
  promptVersions,
  type TrackPromptRow,
  type TrackRow,
  updateTrack,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import { recordTrack, trackNotFound } from './change-track.ts';
import { repoOfTrack, type TrackAddress } from './tracks.ts';

/**
 * The prompt versions of a track, newest first.
 * @throws AppError TRACK_NOT_FOUND.
 */
export async function listPrompts(engine: Engine, address: TrackAddress) {
  return promptVersions(engine.store.db, await trackAt(engine, address));
}

/**
 * One version; versions never change.
 * @throws AppError NOT_FOUND, also where there is no such track.
 */
export async function readPrompt(engine: Engine, address: TrackAddress, version: number): Promise<TrackPromptRow> {
  const track = await trackAt(engine, address).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'TRACK_NOT_FOUND') return null;
    throw error;
  });
  const prompt = track && (await findPrompt(engine.store.db, track, version));
  if (!prompt) throw versionNotFound(version);
  return prompt;
}

/**
 * Adds a version. It is used once it is activated.
 * @returns its number, one more than the newest.
 * @throws AppError TRACK_NOT_FOUND.
 */
export async function addPrompt(
  engine: Engine,
  address: TrackAddress,
  texts: PromptTexts,
  actor: Actor,
): Promise<number> {
  const repo = await repoOfTrack(engine, address);
  const at = { tenantId: repo.tenant_id, repoId: repo.id, name: address.name };
  return inTenant(engine, repo.tenant_id, async (unit) => {
    // Locked, so that version numbers are consecutive.
    const track = await lockTrack(unit.tx, at);
    if (!track) throw trackNotFound(address.name);
    const version = track.latest_version + 1;
    await updateTrack(unit.tx, track, { latest_version: version });
    await insertPrompt(unit.tx, track, { version, by: actor.id ?? actor.type, texts });
    recordTrack(unit, track, { action: 'track-prompt-create', actor, facts: { version, notes: texts.notes } });
    return version;
  });
}

/**
 * Activates a version for the track's next runs. Existing issues keep theirs.
 * @throws AppError TRACK_NOT_FOUND, NOT_FOUND for an unknown version.
 */
export async function activatePrompt(
  engine: Engine,
  address: TrackAddress,
  version: number,
  actor: Actor,
): Promise<void> {
  const repo = await repoOfTrack(engine, address);
  const at = { tenantId: repo.tenant_id, repoId: repo.id, name: address.name };
  await inTenant(engine, repo.tenant_id, async (unit) => {
    const track = await lockTrack(unit.tx, at);
    if (!track) throw trackNotFound(address.name);
    if (!(await findPrompt(unit.tx, track, version))) throw versionNotFound(version);
    await updateTrack(unit.tx, track, { active_version: version });
    const facts = { from: track.active_version, to: version };
    recordTrack(unit, track, { action: 'track-prompt-activate', actor, facts });
  });
}

async function trackAt(engine: Engine, address: TrackAddress): Promise<TrackRow> {
  const repo = await repoOfTrack(engine, address);
  const at = { tenantId: repo.tenant_id, repoId: repo.id, name: address.name };
  const track = await findTrack(engine.store.db, at);
  if (!track) throw trackNotFound(address.name);
  return track;
}

const versionNotFound = (version: number): AppError => new AppError('NOT_FOUND', `Version ${version} not found`);

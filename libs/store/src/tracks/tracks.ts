import { type Selectable, sql } from 'kysely';
import { svcNow } from '../driver/clock.ts';
import { COLUMNS, type DB } from '../driver/database.generated.ts';
import type { Change, Db, Tx } from '../driver/database.ts';
import { fleetNote, jsonb } from '../driver/fragments.ts';

export type TrackRow = Selectable<DB['tracks']>;

interface RepoKey {
  tenantId: number;
  repoId: number;
}

interface TrackKey extends RepoKey {
  name: string;
}

const liveTracks = (db: Db, { tenantId, repoId }: RepoKey) =>
  db
    .selectFrom('tracks')
    .select(COLUMNS.tracks)
    .where('tenant_id', '=', tenantId)
    .where('repo_id', '=', repoId)
    .where('deleted_at', 'is', null);

/** The tracks of a repo, by name. */
export const tracksOfRepo = (db: Db, repo: RepoKey): Promise<TrackRow[]> =>
  liveTracks(db, repo).orderBy('name').execute();

export const findTrack = (db: Db, key: TrackKey): Promise<TrackRow | undefined> =>
  liveTracks(db, key).where('name', '=', key.name).executeTakeFirst();

/** Locks a track, which serialises its changes and runs. */
export const lockTrack = (tx: Tx, key: TrackKey): Promise<TrackRow | undefined> =>
  liveTracks(tx, key).where('name', '=', key.name).forUpdate().executeTakeFirst();

/** Locks all tracks of a repo, which share its slots. */
export const lockTracksOfRepo = (tx: Tx, repo: RepoKey): Promise<TrackRow[]> =>
  liveTracks(tx, repo).orderBy('id').forUpdate().execute();

interface NewTrack {
  name: string;
  label: string;
  enabled: boolean;
  cooldownMinutes: number;
  weight: number;
}

/**
 * Inserts a track; an existing one of that name is locked and unchanged.
 * @returns it, and whether it was inserted.
 */
export async function insertTrack(
  tx: Tx,
  { tenantId, repoId }: RepoKey,
  track: NewTrack,
): Promise<{ track: TrackRow; made: boolean }> {
  const { made, ...row } = await tx
    .insertInto('tracks')
    .values({
      tenant_id: tenantId,
      repo_id: repoId,
      name: track.name,
      label: track.label,
      enabled: track.enabled,
      cooldown_minutes: track.cooldownMinutes,
      weight: track.weight,
    })
    .onConflict((c) =>
      c
        .columns(['tenant_id', 'repo_id', 'name'])
        .where('deleted_at', 'is', null)
        .doUpdateSet((eb) => ({ updated_at: eb.ref('excluded.updated_at') })),
    )
    // No other process has written to a new row.
    .returning([...COLUMNS.tracks, sql<boolean>`xmax = 0`.as('made')])
    .executeTakeFirstOrThrow();
  return { track: row, made };
}

/** Updates a track that the caller has locked. A slate is given as a value of the domain. */
export async function updateTrack(
  tx: Tx,
  { tenant_id, id }: Pick<TrackRow, 'tenant_id' | 'id'>,
  { proposal, ...change }: Omit<Change<'tracks'>, 'proposal'> & { proposal?: TrackRow['proposal'] },
): Promise<TrackRow> {
  return tx
    .updateTable('tracks')
    .set({
      ...change,
      ...(proposal !== undefined && { proposal: (proposal === null ? null : jsonb(proposal)) as never }),
      updated_at: svcNow,
    })
    .where('tenant_id', '=', tenant_id)
    .where('id', '=', id)
    .returning(COLUMNS.tracks)
    .executeTakeFirstOrThrow();
}

/** Deletes a track logically. Its prompts and the record of its issues are kept: tasks on them may be in progress. */
export async function deleteTrack(tx: Tx, key: TrackKey): Promise<boolean> {
  const row = await tx
    .updateTable('tracks')
    .set({ deleted_at: svcNow, next_run_at: null, updated_at: svcNow })
    .where('tenant_id', '=', key.tenantId)
    .where('repo_id', '=', key.repoId)
    .where('name', '=', key.name)
    .where('deleted_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export interface TrackWithRepo extends TrackRow {
  owner: string;
  repo_name: string;
  tenant: string;
}

/** The tracks of all enabled repos, by repo and name. Reads every live track: there are a few per repo. */
export const allTracks = (fleet: Db): Promise<TrackWithRepo[]> =>
  fleet
    .selectFrom('tracks as t')
    .modifyFront(fleetNote('operators see all tenants'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 't.tenant_id').onRef('r.id', '=', 't.repo_id'))
    .innerJoin('tenants as o', 'o.id', 't.tenant_id')
    .selectAll('t')
    .select(['r.owner', 'r.name as repo_name', 'o.external_id as tenant'])
    .where('t.deleted_at', 'is', null)
    .where('r.enabled', '=', true)
    .orderBy('r.slug_key')
    .orderBy('t.tenant_id')
    .orderBy('t.name')
    .execute();

/** Enabled repos with a due track: candidates, each is checked under its lock. Reads due tracks (tracks_due). */
export async function reposWithDueTracks(fleet: Db): Promise<RepoKey[]> {
  const rows = await fleet
    .selectFrom('tracks as t')
    .modifyFront(fleetNote('the scheduler serves every tenant'))
    .innerJoin('repos as r', (join) => join.onRef('r.tenant_id', '=', 't.tenant_id').onRef('r.id', '=', 't.repo_id'))
    .select(['t.tenant_id', 't.repo_id', sql<string>`min(t.next_run_at)`.as('due_at')])
    .where('t.next_run_at', '<=', svcNow)
    .where('t.active_version', '>', 0)
    .where('r.enabled', '=', true)
    .groupBy(['t.tenant_id', 't.repo_id'])
    .orderBy('due_at')
    .execute();
  return rows.map(({ tenant_id, repo_id }) => ({ tenantId: tenant_id, repoId: repo_id }));
}

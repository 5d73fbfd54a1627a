import type { Selectable } from 'kysely';
import type { DB } from '../driver/database.generated.ts';
import type { Db, Tx } from '../driver/database.ts';

export type TrackPromptRow = Selectable<DB['track_prompts']>;

/** A track by its row id: prompts outlive its name. */
interface TrackId {
  tenant_id: number;
  id: number;
}

/** Texts of a version; versions are never changed. */
export interface PromptTexts {
  seed_title: string;
  seed_body: string;
  instructions: string;
  notes: string;
}

/** The versions of a track, newest first, without their texts. */
export const promptVersions = (
  db: Db,
  track: TrackId,
): Promise<Pick<TrackPromptRow, 'version' | 'created_at' | 'notes'>[]> =>
  db
    .selectFrom('track_prompts')
    .select(['version', 'created_at', 'notes'])
    .where('tenant_id', '=', track.tenant_id)
    .where('track_id', '=', track.id)
    .orderBy('version', 'desc')
    .execute();

export const findPrompt = (db: Db, track: TrackId, version: number): Promise<TrackPromptRow | undefined> =>
  db
    .selectFrom('track_prompts')
    .selectAll()
    .where('tenant_id', '=', track.tenant_id)
    .where('track_id', '=', track.id)
    .where('version', '=', version)
    .executeTakeFirst();

/** Adds a version to a track that the caller has locked. */
export async function insertPrompt(
  tx: Tx,
  track: TrackId,
  { version, by, texts }: { version: number; by: string | null; texts: PromptTexts },
): Promise<void> {
  await tx
    .insertInto('track_prompts')
    .values({ tenant_id: track.tenant_id, track_id: track.id, version, created_by: by, ...texts })
    .execute();
}

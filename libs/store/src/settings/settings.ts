import type { Db } from '../driver/database.ts';
import { jsonb } from '../driver/fragments.ts';

/** The effective configuration as the monitor wrote it; null = none was written, so the built-in default applies. */
export async function readSettings(db: Db): Promise<{ version: number; body: unknown } | null> {
  const row = await db.selectFrom('settings').select(['version', 'body']).executeTakeFirst();
  return row ?? null;
}

/** Replaces the effective configuration. @returns its new version. */
export async function writeSettings(db: Db, body: unknown): Promise<number> {
  const row = await db
    .insertInto('settings')
    .values({ id: 1, version: 1, body: jsonb(body) })
    .onConflict((c) =>
      c.column('id').doUpdateSet((eb) => ({
        version: eb('settings.version', '+', 1),
        body: eb.ref('excluded.body'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .returning('version')
    .executeTakeFirstOrThrow();
  return row.version;
}

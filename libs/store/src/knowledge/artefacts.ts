import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

export interface Artefact {
  id: number;
  runId: number;
  issueId: number | null;
  kind: string;
  mediaType: string;
  title: string;
  body: string;
  createdAt: string;
}

export interface Artefacts {
  /** Oldest first. */
  items: Artefact[];
  /** Older ones were left out. */
  truncated: boolean;
}

/** Of one answer, in octets: bodies may have a mebibyte each, and every run's are kept. */
const MAX_OCTETS = 32 * 1024 * 1024;
const MAX_ITEMS = 1_000;

/** Everything that the runs of an issue left (index artefacts_of_issue). */
export const artefactsOfIssue = (read: Db, tenantId: number, issueId: number): Promise<Artefacts> =>
  readArtefacts(read, { where: sql`a.tenant_id = ${tenantId} and a.issue_id = ${issueId}` });

/** Everything that a run left. Its number is all that is known of it, so its tenant is not named (artefacts_of_run). */
export const artefactsOfRun = (fleet: Db, runId: number): Promise<Artefacts> =>
  readArtefacts(fleet, {
    note: fleetNote('finds what a run left by its number alone'),
    where: sql`a.run_id = ${runId}`,
  });

interface Selection {
  note?: RawBuilder<unknown>;
  where: RawBuilder<unknown>;
}

/** From the newest back, as much as fits. The size of a body is known without reading it; those left out are not read. */
async function readArtefacts(db: Db, { note, where }: Selection): Promise<Artefacts> {
  const { rows } = await sql<Artefact & { known: number }>`
    ${note ?? sql``}
    select s.id, s.run_id as "runId", s.issue_id as "issueId", s.kind, s.media_type as "mediaType", s.title, s.body,
      s.created_at as "createdAt", s.known
    from (
      select a.id, a.run_id, a.issue_id, a.kind, a.media_type, a.title, a.body, a.created_at, count(*) over () as known,
        sum(octet_length(a.body)) over newest as octets, row_number() over newest as place
      from artefacts a where ${where} window newest as (order by a.id desc)
    ) s
    where s.octets <= ${MAX_OCTETS} and s.place <= ${MAX_ITEMS}
    order by s.id`.execute(db);
  return { items: rows.map(({ known: _, ...item }) => item), truncated: rows.length < (rows[0]?.known ?? 0) };
}

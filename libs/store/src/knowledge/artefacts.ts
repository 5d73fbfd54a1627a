import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';

interface Artefact {
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
  /** Older ones were omitted. */
  truncated: boolean;
}

/** Maximum size of one response, in octets: a body may have a mebibyte, and those of every run are kept. */
const MAX_OCTETS = 32 * 1024 * 1024;
const MAX_ITEMS = 1_000;

/** All artefacts of the runs of an issue (index artefacts_of_issue). */
export const artefactsOfIssue = (read: Db, tenantId: number, issueId: number): Promise<Artefacts> =>
  readArtefacts(read, { where: sql`a.tenant_id = ${tenantId} and a.issue_id = ${issueId}` });

/** All artefacts of a run. Only its number is known, so its tenant is not named (artefacts_of_run). */
export const artefactsOfRun = (fleet: Db, runId: number): Promise<Artefacts> =>
  readArtefacts(fleet, {
    note: fleetNote('finds what a run left by its number alone'),
    where: sql`a.run_id = ${runId}`,
  });

interface Selection {
  note?: RawBuilder<unknown>;
  where: RawBuilder<unknown>;
}

/**
 * The newest ones, up to the size limit. The size of a body is known without reading it; omitted bodies are not read.
 */
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

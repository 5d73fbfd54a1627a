import type { FileSymbol, MappedFile, MappedSymbol } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

interface FileSet {
  tenantId: number;
  repoId: number;
  paths: string[];
  languages: (string | null)[];
  sizes: (number | null)[];
  shas: (string | null)[];
  summaries: (string | null)[];
  symbols: string[];
}

// Unchanged rows are not written: most files stay the same between scans, and updating the search column is the largest
// cost. Changed and missing rows are found by set operations: as an anti join over a set without statistics, it was a
// nested loop on Postgres 15.
const replace = prepared(
  'replace-repo-files',
  (_db, p: Params<FileSet>) => sql<{ written: number; removed: number }>`
    with scanned as materialized (
      select path, language, size, sha, summary, symbols::jsonb as symbols
      from unnest(${p('paths')}::text[], ${p('languages')}::text[], ${p('sizes')}::bigint[], ${p('shas')}::text[],
        ${p('summaries')}::text[], ${p('symbols')}::text[]) as s (path, language, size, sha, summary, symbols)
    ), gone as (
      delete from repo_files f using (
        select path from repo_files where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')}
        except select path from scanned
      ) old
      where f.tenant_id = ${p('tenantId')} and f.repo_id = ${p('repoId')} and f.path = old.path
      returning f.path
    ), changed as (
      select path, language, size, sha, summary, symbols from scanned
      except
      select path, language, size, sha, summary, symbols from repo_files
      where tenant_id = ${p('tenantId')} and repo_id = ${p('repoId')}
    ), written as (
      insert into repo_files (tenant_id, repo_id, path, language, size, sha, summary, symbols)
      select ${p('tenantId')}, ${p('repoId')}, path, language, size, sha, summary, symbols from changed
      on conflict (tenant_id, repo_id, path) do update set language = excluded.language, size = excluded.size,
        sha = excluded.sha, summary = excluded.summary, symbols = excluded.symbols, updated_at = excluded.updated_at
      returning path
    )
    select (select count(*) from written) as written, (select count(*) from gone) as removed`,
);

/**
 * The first scan of a large repo writes every file: seconds, and more on a busy server than the default statement
 * timeout.
 */
const REPLACE_WITHIN = '60s';

/**
 * Replaces the files of a repo, in one statement: readers see the old set or the new one. The caller holds the repo's
 * one scan, so replacements do not overlap. The statement timeout also applies to the rest of the transaction.
 * @returns how many rows were written and deleted.
 */
export async function replaceRepoFiles(
  tx: Tx,
  { tenantId, repoId }: { tenantId: number; repoId: number },
  files: readonly MappedFile[],
  symbols: readonly MappedSymbol[],
): Promise<{ written: number; removed: number }> {
  const byPath = Map.groupBy(symbols, ({ path }) => path);
  const symbolsOf = (path: string): FileSymbol[] =>
    (byPath.get(path) ?? []).map(({ name, kind, line }) => ({ name, kind, line }));
  await sql`select set_config('statement_timeout', ${REPLACE_WITHIN}, true)`.execute(tx);
  const done = await replace.first(tx, {
    tenantId,
    repoId,
    paths: files.map((file) => file.path),
    languages: files.map((file) => file.language),
    sizes: files.map((file) => file.size),
    shas: files.map((file) => file.sha),
    summaries: files.map((file) => file.summary),
    symbols: files.map((file) => JSON.stringify(symbolsOf(file.path))),
  });
  return done ?? { written: 0, removed: 0 };
}

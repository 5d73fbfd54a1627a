import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** Search criteria for files, with the weights of the words. */
interface FileClues {
  tenantId: number;
  repoId: number;
  words: string[];
  weights: number[];
  symbols: string[];
  /** Whole paths. */
  paths: string[];
  /** Ends of paths that were given without their folder. */
  names: string[];
}

export interface FoundFile {
  path: string;
  how: 'text' | 'symbol' | 'path' | 'name' | 'trigram';
  /** Score of a text: the sum of weight and rarity; of trigrams: 0 to 1; else 1. */
  score: number;
  /** Index of the criterion, counted from 1. */
  clues: number[];
}

const MAX_HITS = 100;
const MAX_BY_TEXT = 40;
const MAX_BY_CLUE = 10;
const MAX_SIMILAR = 5;
const MIN_SIMILARITY = 0.5;

type Clues = FileClues & { total: number };

const inRepo = (p: Params<Clues>) => sql`f.tenant_id = ${p('tenantId')} and f.repo_id = ${p('repoId')}`;

// Each word reads its first 100 files and no more, so a frequent word costs no more than a rare one and scores almost
// nothing. The rarer a word, the higher its score: ln(1 + files / hits).
const byText = (p: Params<Clues>) => sql`
  select h.path, 'text' as how, sum((${p('weights')}::float8[])[h.n] * ln(1 + ${p('total')}::float8 / h.hits)) as score,
    array_agg(h.n::int) as clues
  from (
    select w.n, f.path, count(*) over (partition by w.n) as hits
    from unnest(${p('words')}::text[]) with ordinality as w (word, n)
    cross join lateral (
      select f.path from repo_files f
      where ${inRepo(p)} and f.search @@ plainto_tsquery('english', w.word) limit ${sql.lit(MAX_HITS)}
    ) f
  ) h
  group by h.path order by score desc, h.path limit ${sql.lit(MAX_BY_TEXT)}`;

const bySymbol = (p: Params<Clues>) => sql`
  select f.path, 'symbol' as how, 1::float8 as score, array[s.n::int] as clues
  from unnest(${p('symbols')}::text[]) with ordinality as s (name, n)
  cross join lateral (
    select f.path from repo_files f
    where ${inRepo(p)} and f.search @@ plainto_tsquery('english', s.name) limit ${sql.lit(MAX_BY_CLUE)}
  ) f`;

const byPath = (p: Params<Clues>) => sql`
  select f.path, 'path' as how, 1::float8 as score, array[array_position(${p('paths')}::text[], f.path)] as clues
  from repo_files f where ${inRepo(p)} and f.path = any(${p('paths')}::text[])`;

const wordsOf = (name: RawBuilder<unknown>) => sql`regexp_replace(
  regexp_replace(${name}, '([a-z0-9])([A-Z])', '\\1 \\2', 'g'), '[^[:alnum:]]+', ' ', 'g')`;

const byName = (p: Params<Clues>) => sql`
  select f.path, 'name' as how, 1::float8 as score, array[c.n::int] as clues
  from unnest(${p('names')}::text[]) with ordinality as c (name, n)
  cross join lateral (
    select f.path from repo_files f
    where ${inRepo(p)} and f.search @@ plainto_tsquery('english', ${wordsOf(sql`c.name`)})
      and ('/' || f.path) like '%/' || replace(replace(c.name, '\\', '\\\\'), '_', '\\_')
    limit ${sql.lit(MAX_BY_CLUE)}
  ) f`;

/** The name without its extension, which every file may have. */
const stem = sql`regexp_replace(c.name, '[.][^.]*$', '')`;

// Misspelt or moved files: those that share a word with the name, ranked by the similarity of their paths. A trigram
// index would also find those without a common word, but makes a scan of 20,000 files four times as slow.
const byTrigram = (p: Params<Clues>) => sql`
  select f.path, 'trigram' as how, f.score, array[c.n::int] as clues
  from unnest(${p('names')}::text[]) with ordinality as c (name, n)
  cross join lateral (
    select h.path, word_similarity(c.name, h.path)::float8 as score from (
      select f.path from repo_files f
      where ${inRepo(p)}
        and f.search @@ replace(plainto_tsquery('english', ${wordsOf(stem)})::text, '&', '|')::tsquery
      limit ${sql.lit(MAX_HITS)}
    ) h
    where word_similarity(c.name, h.path) >= ${sql.lit(MIN_SIMILARITY)} order by 2 desc, 1 limit ${sql.lit(MAX_SIMILAR)}
  ) f`;

const find = prepared(
  'retrieve-files',
  (_db, p: Params<Clues>) => sql<FoundFile>`
    (${byText(p)}) union all (${bySymbol(p)}) union all (${byPath(p)}) union all (${byName(p)})
    union all (${byTrigram(p)})`,
);

/** Files of a repo's map that match the criteria, unordered (index repo_files_search). */
export const findFiles = (read: Db, clues: FileClues, total: number): Promise<FoundFile[]> =>
  find.all(read, { ...clues, total });

const map = prepared(
  'code-map-size',
  (_db, p: Params<{ tenantId: number; repoId: number }>) => sql<{ files: number; symbols: number }>`
    select s.file_count as files, s.symbol_count as symbols from repo_scans s
    where s.tenant_id = ${p('tenantId')} and s.repo_id = ${p('repoId')} and s.scanned_at is not null`,
);

/** Number of mapped files and symbols of a repo; undefined before its first scan. */
export const codeMapSize = (
  read: Db,
  repo: { tenantId: number; repoId: number },
): Promise<{ files: number; symbols: number } | undefined> => map.first(read, repo);

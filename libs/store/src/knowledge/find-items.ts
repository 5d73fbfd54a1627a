import type { IntelligenceStatus } from '@pipeline/domain';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** Search criteria for items. */
interface ItemClues {
  tenantId: number;
  repoId: number;
  words: string[];
  weights: number[];
  /** Names to match with scopes: paths, the folders around them, symbols. */
  refs: string[];
  /** Internal ids of similar earlier issues. */
  precedents: number[];
  /** Statuses of the items that may be given; the others are omitted. */
  statuses: IntelligenceStatus[];
}

export interface FoundItem {
  itemId: string;
  how: 'text' | 'scope' | 'precedent' | 'repo';
  score: number;
  /** Numbers of the matching words of a text, counted from 1. */
  clues: number[];
  /** Names of the matching scopes. */
  refs: string[];
}

const MAX_HITS = 100;
const MAX_BY_TEXT = 60;
const MAX_OF_SCOPE = 20;
const MAX_BY_PRECEDENT = 60;
const MAX_REPO_WIDE = 30;

type Clues = ItemClues & { total: number };

const inRepo = (p: Params<Clues>) => sql`t.tenant_id = ${p('tenantId')} and t.repo_id = ${p('repoId')}`;
/** The list is literal for the partial indexes, which the planner does not use for a parameter. */
const usable = (p: Params<Clues>) =>
  sql`t.status in ('approved', 'proposed', 'observed') and t.status = any(${p('statuses')}::text[])`;

const byText = (p: Params<Clues>) => sql`
  select h.id as "itemId", 'text' as how,
    sum((${p('weights')}::float8[])[h.n] * ln(1 + ${p('total')}::float8 / h.hits)) as score,
    array_agg(h.n::int) as clues, '{}'::text[] as refs
  from (
    select w.n, t.id, count(*) over (partition by w.n) as hits
    from unnest(${p('words')}::text[]) with ordinality as w (word, n)
    cross join lateral (
      select t.id from intelligence_items t
      where ${inRepo(p)} and ${usable(p)} and t.search @@ plainto_tsquery('english', w.word) limit ${sql.lit(MAX_HITS)}
    ) t
  ) h
  group by h.id order by score desc, h.id limit ${sql.lit(MAX_BY_TEXT)}`;

const byScope = (p: Params<Clues>) => sql`
  select s.item_id as "itemId", 'scope' as how, 1::float8 as score, '{}'::int[] as clues, s.refs
  from (
    select h.item_id, array_agg(h.scope_ref) as refs
    from unnest(${p('refs')}::text[]) as r (ref)
    cross join lateral (
      select s.item_id, s.scope_ref from intelligence_scopes s
      where s.tenant_id = ${p('tenantId')} and s.repo_id = ${p('repoId')} and s.scope_ref = r.ref
        and s.scope_kind <> 'repo'
      limit ${sql.lit(MAX_OF_SCOPE)}
    ) h
    group by h.item_id
  ) s
  where exists (select from intelligence_items t where ${inRepo(p)} and t.id = s.item_id and ${usable(p)})`;

const byPrecedent = (p: Params<Clues>) => sql`
  select t.id as "itemId", 'precedent' as how, 1::float8 as score, '{}'::int[] as clues, '{}'::text[] as refs
  from intelligence_items t
  where ${inRepo(p)} and ${usable(p)} and t.source_issue_id = any(${p('precedents')}::bigint[])
  limit ${sql.lit(MAX_BY_PRECEDENT)}`;

const repoWide = (p: Params<Clues>) => sql`
  select s.item_id as "itemId", 'repo' as how, 1::float8 as score, '{}'::int[] as clues, '{}'::text[] as refs
  from intelligence_scopes s
  join intelligence_items t on t.tenant_id = s.tenant_id and t.id = s.item_id
  where s.tenant_id = ${p('tenantId')} and s.repo_id = ${p('repoId')} and s.scope_kind = 'repo' and ${usable(p)}
  limit ${sql.lit(MAX_REPO_WIDE)}`;

const find = prepared(
  'retrieve-items',
  (_db, p: Params<Clues>) => sql<FoundItem>`
    (${byText(p)}) union all (${byScope(p)}) union all (${byPrecedent(p)}) union all (${repoWide(p)})`,
);

/**
 * Items of a repo that match the criteria and may be given to agents, unordered.
 * @param total number of documents, from which the rarity of a word is computed.
 */
export const findItems = (read: Db, clues: ItemClues, total: number): Promise<FoundItem[]> =>
  find.all(read, { ...clues, total });

const left = prepared(
  'retrieve-items-left-out',
  (_db, p: Params<Pick<ItemClues, 'tenantId' | 'repoId' | 'words'>>) => sql<{ n: number }>`
    select count(distinct t.id) as n
    from unnest(${p('words')}::text[]) as w (word)
    cross join lateral (
      select t.id from intelligence_items t
      where t.tenant_id = ${p('tenantId')} and t.repo_id = ${p('repoId')}
        and t.status in ('candidate', 'dismissed', 'superseded') and t.search @@ plainto_tsquery('english', w.word)
      limit 20
    ) t`,
);

/** Number of items that match the words but may not be given, by their status; at most 20 for each word. */
export const countUnusable = async (
  read: Db,
  { tenantId, repoId, words }: Pick<ItemClues, 'tenantId' | 'repoId' | 'words'>,
): Promise<number> => (await left.first(read, { tenantId, repoId, words }))?.n ?? 0;

/** Returns whether a repo has any item: one probe, so that a claim in a new repo costs nothing more. */
export const hasIntelligence = (p: Params<{ tenantId: number; repoId: number }>): RawBuilder<boolean> =>
  sql`exists (select from intelligence_items t where t.tenant_id = ${p('tenantId')} and t.repo_id = ${p('repoId')})`;

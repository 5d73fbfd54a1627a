import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** An earlier issue with a retrospective. */
export interface Precedent {
  issueId: number;
  issueNumber: number;
  /** The score of the match. */
  score: number;
  /** The files that were changed for it. */
  files: string[];
}

interface Query {
  tenantId: number;
  repoId: number;
  words: string[];
  weights: number[];
  /** The issue itself, which is excluded; 0 = none. */
  besides: number;
  limit: number;
}

const MAX_HITS = 100;
/** A single common word does not make issues similar. */
const MIN_WORDS = 2;

const find = prepared(
  'retrieve-precedents',
  (_db, p: Params<Query>) => sql<Precedent>`
    select i.id as "issueId", i.issue_number as "issueNumber", best.score, array(
      select jsonb_array_elements_text(r.actual_files -> 'files') limit 50) as files
    from (
      select h.id, sum((${p('weights')}::float8[])[h.n] / h.hits) as score
      from (
        select w.n, r.id, count(*) over (partition by w.n) as hits
        from unnest(${p('words')}::text[]) with ordinality as w (word, n)
        cross join lateral (
          select r.id from retrospectives r
          where r.tenant_id = ${p('tenantId')} and r.repo_id = ${p('repoId')}
            and r.search @@ plainto_tsquery('english', w.word) and r.issue_id <> ${p('besides')}
          limit ${sql.lit(MAX_HITS)}
        ) r
      ) h
      group by h.id having count(*) >= ${sql.lit(MIN_WORDS)} order by score desc, h.id limit ${p('limit')}
    ) best
    join retrospectives r on r.tenant_id = ${p('tenantId')} and r.id = best.id
    join issues i on i.tenant_id = r.tenant_id and i.id = r.issue_id
    order by best.score desc`,
);

/** Earlier issues whose retrospectives contain the same words, best match first (index retrospectives_search). */
export const findPrecedents = (read: Db, query: Query): Promise<Precedent[]> => find.all(read, query);

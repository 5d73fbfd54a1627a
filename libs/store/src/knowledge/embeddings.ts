import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { fleetNote } from '../driver/fragments.ts';
import { type Params, prepared } from '../driver/prepared.ts';

/** The signs of a vector: near vectors share most of them. */
const bitsOf = (vector: readonly number[]): string => vector.map((value) => (value >= 0 ? '1' : '0')).join('');

interface Query {
  tenantId: number;
  repoId: number;
  model: string;
  bits: string;
  vector: readonly number[];
}

/** Number of candidates selected by signs, which the exact cosine then ranks. */
const SHORTLIST = 200;
const NEAREST = 40;

const near = prepared(
  'nearest-intelligence',
  (_db, p: Params<Query>) => sql<{ itemId: string; cosine: number }>`
    with near as materialized (
      select e.item_id from intelligence_embeddings e
      where e.tenant_id = ${p('tenantId')} and e.repo_id = ${p('repoId')} and e.model = ${p('model')}
        and length(e.bits) = length(${p('bits')}::bit varying)
      order by bit_count(e.bits # ${p('bits')}::bit varying) limit ${sql.lit(SHORTLIST)}
    )
    select e.item_id as "itemId", (
      select sum(pair.a * pair.b) from unnest(e.vector, ${p('vector')}::real[]) as pair (a, b))::float8 as cosine
    from near join intelligence_embeddings e on e.tenant_id = ${p('tenantId')} and e.item_id = near.item_id
    order by cosine desc limit ${sql.lit(NEAREST)}`,
);

/**
 * Items nearest to a vector of length 1: the exact cosine, over the 200 that share most signs with it (an index-only
 * scan of the repo's embeddings).
 */
export const nearestItems = (
  read: Db,
  { vector, ...where }: Omit<Query, 'bits'>,
): Promise<{ itemId: string; cosine: number }[]> => near.all(read, { ...where, vector, bits: bitsOf(vector) });

interface Unembedded {
  tenant_id: number;
  id: string;
  repo_id: number;
  title: string;
  summary: string;
}

/** Items of all tenants that may be given to agents and have no vector of this model. */
export const itemsToEmbed = (fleet: Db, model: string, limit: number): Promise<Unembedded[]> =>
  fleet
    .selectFrom('intelligence_items as t')
    .modifyFront(fleetNote('every item gets a vector'))
    .select(['t.tenant_id', 't.id', 't.repo_id', 't.title', 't.summary'])
    .where('t.status', 'in', ['approved', 'proposed', 'observed'])
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('intelligence_embeddings as e')
            .select('e.item_id')
            .whereRef('e.tenant_id', '=', 't.tenant_id')
            .whereRef('e.item_id', '=', 't.id')
            .where('e.model', '=', model),
        ),
      ),
    )
    .orderBy('t.last_observed_at', 'desc')
    .limit(limit)
    .execute();

/** @param vector of length 1. */
export async function putEmbedding(
  tx: Tx,
  { tenant_id, id, repo_id }: Unembedded,
  { model, vector }: { model: string; vector: readonly number[] },
): Promise<void> {
  const values = { repo_id, model, bits: bitsOf(vector), vector: [...vector] };
  await tx
    .insertInto('intelligence_embeddings')
    .values({ tenant_id, item_id: id, ...values })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'item_id']).doUpdateSet(values))
    .execute();
}

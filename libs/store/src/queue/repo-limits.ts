import { sql } from 'kysely';
import type { Db, Tx } from '../driver/database.ts';
import { type Params, prepared } from '../driver/prepared.ts';
import { inTransaction } from '../driver/transaction.ts';
import type { Claimed } from './claim-statement.ts';
import { claimTasks } from './claim-tasks.ts';
import type { ClaimInput } from './claiming.ts';

interface InTenant {
  tenantId: number;
}
type InRepo = InTenant & { repoId: number };

// Full repos and unavailable ones. Aggregated once over the tenant's claimed tasks, about one row per worker
// (tasks_of_worker).
const full = prepared(
  'full-repos',
  (_db, p: Params<InTenant>) => sql<{ id: number }>`
    select r.id from repos r
    left join (
      select repo_id, count(*) as n from tasks
      where tenant_id = ${p('tenantId')} and status = 'claimed' group by repo_id
    ) claimed on claimed.repo_id = r.id
    where r.tenant_id = ${p('tenantId')} and (r.unavailable is not null or r.pool_size <= claimed.n)`,
);

const limitOf = prepared('limit-of-repo', (db, p: Params<InRepo>) =>
  db
    .selectFrom('repos')
    .select('pool_size')
    .where('tenant_id', '=', p('tenantId'))
    .where('id', '=', p('repoId'))
    .where('pool_size', 'is not', null),
);

// Without a FROM: a distributed store would take the lock on the node of the rows, where no other statement looks for
// it.
const lockLimit = prepared(
  'lock-repo-limit',
  (_db, p: Params<InRepo>) => sql`
    select pg_advisory_xact_lock(
      hashtextextended('pipeline.pool:' || ${p('tenantId')}::bigint || ':' || ${p('repoId')}::bigint, 0))::text as locked`,
);

const countClaimed = prepared('count-claimed-in-repo', (db, p: Params<InRepo>) =>
  db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', p('tenantId'))
    .where('repo_id', '=', p('repoId'))
    .where('status', '=', sql.lit('claimed')),
);

/** Other claims filled the repo meanwhile; the claim is undone. */
class NoRoom extends Error {
  readonly repoId: number;
  constructor(repoId: number) {
    super(`repo ${repoId} has as many claims as it may`);
    this.repoId = repoId;
  }
}

/**
 * Claims one task for a tenant with repos that limit concurrent claims. Full repos are excluded, so their waiting tasks
 * delay no other repo: while one is full the claim reads the queues of the others one by one. A claim in a limited repo
 * is counted under that repo's advisory lock, which is held until the commit, so that concurrent claims respect the
 * limit; one too many is undone and the next repo is tried.
 * @returns the claim, or an empty list.
 */
export async function claimWithinLimits(db: Db, tenantId: number, input: ClaimInput): Promise<Claimed[]> {
  const without = new Set((await full.all(db, { tenantId })).map((repo) => repo.id));
  for (;;) {
    const repoIds = without.size === 0 ? input.repoIds : await othersThan(db, tenantId, input.repoIds, without);
    if (repoIds?.length === 0) return [];
    try {
      return await inTransaction(db, (tx) => claimWithRoom(tx, tenantId, { ...input, repoIds }));
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
      without.add(error.repoId);
    }
  }
}

async function claimWithRoom(tx: Tx, tenantId: number, input: ClaimInput): Promise<Claimed[]> {
  const [claimed] = await claimTasks(tx, tenantId, { ...input, claimers: input.claimers.slice(0, 1) });
  if (!claimed) return [];
  const key = { tenantId, repoId: claimed.repo_id };
  const size = (await limitOf.first(tx, key))?.pool_size ?? null;
  if (size === null) return [claimed];
  // Separate statements: the count must see what the last holder of the lock has committed.
  await lockLimit.run(tx, key);
  if (((await countClaimed.first(tx, key))?.n ?? 0) > size) throw new NoRoom(claimed.repo_id);
  return [claimed];
}

async function othersThan(
  db: Db,
  tenantId: number,
  wanted: readonly number[] | null,
  without: ReadonlySet<number>,
): Promise<number[]> {
  const ids = wanted ?? (await db.selectFrom('repos').select('id').where('tenant_id', '=', tenantId).execute());
  return ids.map((repo) => (typeof repo === 'number' ? repo : repo.id)).filter((id) => !without.has(id));
}

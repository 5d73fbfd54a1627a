import { ANY_AGENT } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { CLAIMED, type Claimed, claimedRows } from './claim-statement.ts';
import { type Claimer, type ClaimInput, claimStatements, runClaim } from './claiming.ts';

/** One task requested by a worker, whose right to it is checked. */
interface CheckedClaimer extends Claimer {
  /** The presented token of the worker; null = any. */
  tokenId: string | null;
  /** Hash of a claim token: if there was a claim with it, this request repeats that one and claims nothing. */
  repeats: string | null;
}

interface CheckedClaimInput extends ClaimInput {
  claimers: readonly CheckedClaimer[];
  /** True = tasks may be claimed now; otherwise the requests are only checked. */
  isOpen: boolean;
}

/** The answer to one claimer. */
export interface CheckedClaim {
  /** The worker is registered, with the presented token. */
  is_own: boolean;
  /** An operator drains it, or it has reported that it ends with its current task. */
  is_draining: boolean;
  /** There was a claim with the token that it repeats (index runs_by_token). */
  is_repeated: boolean;
  /**
   * The tenant has repos that limit concurrent claims or cannot be worked on (indexes repos_limited and
   * repos_unavailable): nothing was claimed, `claimWithinLimits` does.
   */
  is_limited: boolean;
  /** The tenant has tasks of compared agents (index tasks_compared). */
  has_compared_tasks: boolean;
  /** Null = it may not claim, or there is no task for it. */
  task: Claimed | null;
}

interface Checks {
  tokenIds: readonly (string | null)[];
  repeats: readonly (string | null)[];
  isOpen: boolean;
}

type Row = Omit<CheckedClaim, 'task'> & Omit<Claimed, 'id'> & { id: string | null };

const ANY = sql.lit(ANY_AGENT);

const statements = claimStatements<Checks, Row>('claim-for-worker', (p) => ({
  ctes: sql`gate as materialized (
    select exists (
        select from repos where tenant_id = ${p('tenantId')} and (pool_size is not null or unavailable is not null)
      ) as is_limited,
      exists (select from tasks where tenant_id = ${p('tenantId')} and compared_agent <> ${ANY}) as has_compared_tasks
  ), claimer as materialized (
    select given.n, given.worker_id, given.hash, coalesce(w.draining or w.finishing, false) as is_draining,
      w.id is not null and (w.token_id is null or given.token_id is null or w.token_id = given.token_id) as is_own,
      given.repeats is not null and exists (
        select from runs where tenant_id = ${p('tenantId')} and claim_token_hash = given.repeats) as is_repeated
    from unnest((select ${p('workerIds')}::text[]), (select ${p('tokenHashes')}::text[]),
      (select ${p('tokenIds')}::uuid[]), (select ${p('repeats')}::text[]))
      with ordinality as given (worker_id, hash, token_id, repeats, n)
    left join workers w on w.tenant_id = ${p('tenantId')} and w.id = given.worker_id
  ), ready as materialized (
    select row_number() over (order by n) as n, worker_id, hash from claimer cross join gate
    where ${p('isOpen')}::boolean and is_own and not is_draining and not is_repeated and not is_limited
  )`,
  agents: sql`select case when has_compared_tasks then ${p('agents')}::text[] else array[${ANY}] end from gate`,
  answer: sql`
    select is_own, is_draining, is_repeated, is_limited, has_compared_tasks, ${CLAIMED}
    from claimer cross join gate left join (${claimedRows}) task on task.claim_token_hash = claimer.hash
    order by claimer.n`,
}));

/**
 * Claims the next tasks as `claimTasks` does, for those of the workers that may claim: one statement checks and claims,
 * so a request that finds no task costs one round trip.
 * @returns an answer for each claimer, in order.
 * @throws RangeError for more than MAX_CLAIMERS claimers.
 */
export async function claimForWorkers(db: Db, tenantId: number, input: CheckedClaimInput): Promise<CheckedClaim[]> {
  const { claimers, isOpen } = input;
  const more = {
    tokenIds: claimers.map(({ tokenId }) => tokenId),
    repeats: claimers.map(({ repeats }) => repeats),
    isOpen,
  };
  return (await runClaim(statements, db, { tenantId, input, more })).map(answerOf);
}

function answerOf(row: Row): CheckedClaim {
  const { is_own, is_draining, is_repeated, is_limited, has_compared_tasks, id, ...task } = row;
  const claimed = id === null ? null : { ...task, id };
  return { is_own, is_draining, is_repeated, is_limited, has_compared_tasks, task: claimed };
}

import { ANY_AGENT } from '@pipeline/domain';
import type { RawBuilder } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type Params, type PreparedStatement, prepared } from '../driver/prepared.ts';
import { type Claiming, claimOf } from './claim-statement.ts';
import {
  type Claim,
  type ClaimInRepos,
  type Heads,
  MAX_CLAIMERS,
  manyHeads,
  NUMBERED_HEADS,
  oneHead,
  type Scope,
  someRepos,
  wholeTenant,
} from './queue-heads.ts';

/** One task requested by a worker, with its own claim token. */
export interface Claimer {
  workerId: string;
  tokenHash: string;
}

export interface ClaimInput {
  taskTypes: readonly string[];
  /** Agents that the claimers run, absent = none; tasks of other agents are not claimed. */
  agents?: readonly string[];
  /** Null = all repos of the tenant. */
  repoIds: readonly number[] | null;
  /** At most MAX_CLAIMERS. The claim returns at most this many tasks, the first ones to the first claimers. */
  claimers: readonly Claimer[];
  leaseMs: number;
}

/** The statements of one way to claim: for one claimer or several, in all repos or some. */
interface ClaimStatements<P extends object, R> {
  one: PreparedStatement<P & Claim, R>;
  oneInRepos: PreparedStatement<P & ClaimInRepos, R>;
  many: PreparedStatement<P & Claim, R>;
  manyInRepos: PreparedStatement<P & ClaimInRepos, R>;
}

/** @param name of the first one; unique in the store. */
export function claimStatements<P extends object, R>(
  name: string,
  claimingOf: (p: Params<P & Claim>) => Claiming,
): ClaimStatements<P, R> {
  const statement = (p: Params<P & Claim>, heads: Heads, scope: Scope) => {
    const claiming = claimingOf(p);
    return claimOf(p, [heads(p, scope, claiming.agents), NUMBERED_HEADS], claiming) as RawBuilder<R>;
  };
  return {
    one: prepared(name, (_db, p: Params<P & Claim>) => statement(p, oneHead, wholeTenant)),
    oneInRepos: prepared(`${name}-in-repos`, (_db, p: Params<P & ClaimInRepos>) => statement(p, oneHead, someRepos(p))),
    many: prepared(`${name}s`, (_db, p: Params<P & Claim>) => statement(p, manyHeads, wholeTenant)),
    manyInRepos: prepared(`${name}s-in-repos`, (_db, p: Params<P & ClaimInRepos>) =>
      statement(p, manyHeads, someRepos(p)),
    ),
  };
}

/** @throws RangeError for more than MAX_CLAIMERS claimers. */
export function runClaim<P extends object, R>(
  { one, oneInRepos, many, manyInRepos }: ClaimStatements<P, R>,
  db: Db,
  { tenantId, input, more }: { tenantId: number; input: ClaimInput; more: P },
): Promise<R[]> {
  const { taskTypes, agents = [], repoIds, claimers, leaseMs } = input;
  if (claimers.length > MAX_CLAIMERS) throw new RangeError(`${claimers.length} claimers exceed ${MAX_CLAIMERS}`);
  const isOne = claimers.length === 1;
  const workerIds = claimers.map(({ workerId }) => workerId);
  const tokenHashes = claimers.map(({ tokenHash }) => tokenHash);
  const lease = `${leaseMs} ms`;
  const claim = { ...more, tenantId, taskTypes, agents: [ANY_AGENT, ...agents], workerIds, tokenHashes, lease };
  if (repoIds === null) return (isOne ? one : many).all(db, claim);
  return (isOne ? oneInRepos : manyInRepos).all(db, { ...claim, repoIds });
}

import {
  branchOf,
  type HostPullRequest,
  type Invocation,
  type PlanStatus,
  type State,
  type WorkflowSnapshot,
} from '@pipeline/domain';
import type { ClaimedTask, Engine, Report } from '@pipeline/engine';
import { prepared, type RepoRow } from '@pipeline/store';
import type { TestDatabase } from '../../databases/interface.ts';
import type { ModelHost } from '../host/host.ts';
import type { Acts } from './acts.ts';

/** Approvals, and the pipeline's writes about commits and pull requests, recorded by the model beside the store. */
export interface MergeLedger {
  /** `number sha` of each approval by an agent, an operator or a person with write permission. */
  approved: Set<string>;
  /** Ids of the reviews whose dismissal was delivered to the pipeline. */
  dismissed: Set<number>;
  breaches: string[];
}

/** A worker's data of a claim, including the token. */
export interface Held {
  worker: string;
  task: ClaimedTask;
  /** Cumulative reported cost in USD of its one model call. */
  costUsd: number;
  /** The last report or failure it sent, to be repeated. */
  said?: { kind: 'report'; body: Report } | { kind: 'fail'; message: string; costUsd: number };
  /** The worker still works on the task. */
  working: boolean;
}

/** The system under test: the pipeline, its store and its clock, with a host and workers driven by the steps. */
export interface World {
  database: TestDatabase;
  tenantId: number;
  /** Workflow of the whole run. */
  workflow: WorkflowSnapshot;
  host: ModelHost;
  acts: Acts;
  workers: string[];
  held: Held[];
  /** Reported cost of each claim: the ledger that the store is compared with. */
  costs: Map<string, number>;
  ledger: MergeLedger;
  shas: number;
}

/** The inputs of acts: an empty store, the repo and its host. */
export interface Stage {
  database: TestDatabase;
  engine: Engine;
  tenantId: number;
  repo: RepoRow;
  host: ModelHost;
}

export function pass({ database }: World, seconds: number): void {
  database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + seconds * 1_000);
}

export const nextSha = (world: World): string => {
  world.shas += 1;
  return `abc${String(world.shas).padStart(5, '0')}`;
};

/** The only model call of a claim, with its cost so far. A cost of 0 is unreported. */
export function invocations(world: Pick<World, 'costs'>, held: Held, costUsd: number): Invocation[] {
  const before = world.costs.get(held.task.claimToken) ?? 0;
  world.costs.set(held.task.claimToken, Math.max(before, costUsd));
  // As many as may cost that.
  const used = costUsd * 1_000_000;
  const tokens = { inputTokens: used, outputTokens: used, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const reported = costUsd === 0 ? null : costUsd;
  return [{ index: 0, model: 'm', provider: 'p', ...tokens, turns: 1, costUsd: reported, stopReason: 'completed' }];
}

export interface Seen {
  id: number;
  number: number;
  state: State;
  paused: boolean;
  blocked: boolean;
  /** Status and number of the latest version of the plan; null and 0 = no plan needed an approval. */
  plan: PlanStatus | null;
  planVersion: number;
}

/** Runs after every step, so it is prepared. */
const allIssues = prepared('model-issues', (db) =>
  db
    .selectFrom('issues')
    .select(['id', 'issue_number', 'state', 'is_paused', 'is_blocked', 'plan_status', 'plan_version'])
    .orderBy('issue_number'),
);

/** The issues in the store, by number. */
export async function issuesOf({ database }: World): Promise<Map<number, Seen>> {
  const rows = await allIssues.all(database.db, {});
  return new Map(
    rows.map((row) => [
      row.issue_number,
      {
        id: row.id,
        number: row.issue_number,
        state: row.state,
        paused: row.is_paused,
        blocked: row.is_blocked,
        plan: row.plan_status,
        planVersion: row.plan_version,
      },
    ]),
  );
}

/** The newest pull request of the pipeline for an issue. */
export const ownPull = ({ host }: World, number: number): HostPullRequest | undefined =>
  host.state.pullsOf(branchOf(number)).findLast((pull) => host.state.isOwn(pull));

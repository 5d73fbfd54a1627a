import { type IssueHistory, type State, type TaskType, WORK_TASK_TYPES } from '@pipeline/domain';
import { sql } from 'kysely';
import type { Db } from '../driver/database.ts';
import { type PullRequestRow, pullRequestsOf } from '../intake/pull-requests.ts';

const MAX_FAILURES = 50;
const MAX_MOVES = 100;
const MAX_MESSAGE = 500;
const MS_PER_MINUTE = 60_000;

interface Past {
  id: number;
  submitted_files: string[];
  cost_usd: number;
  unreported_costs: number;
  created_at: string;
}

/**
 * Summary of an issue: its outcome, failures and cost. Five reads by index, each bounded by its limit or by the issue's
 * own rows.
 */
export async function historyOf(db: Db, tenantId: number, issue: Past): Promise<IssueHistory> {
  const [moves, prs, cycles, failures, costs] = await Promise.all([
    movesOf(db, tenantId, issue.id),
    pullRequestsOf(db, tenantId, issue.id),
    reviewCyclesOf(db, tenantId, issue.id),
    failuresOf(db, tenantId, issue.id),
    costsOf(db, tenantId, issue.id),
  ]);
  const end = moves.findLast((move) => move.to_state === 'done');
  return {
    end: prs.some((pr) => pr.merged) ? 'merged' : 'ended',
    enteredAt: issue.created_at,
    endedAt: end?.at ?? null,
    changedFiles: changedFilesOf(prs, issue.submitted_files),
    pullRequests: prs.map(({ number, url, merged, merge_sha }) => ({ number, url, merged, mergeSha: merge_sha })),
    reviewCycles: cycles,
    failures,
    costs: { totalUsd: issue.cost_usd, unreportedCosts: issue.unreported_costs, byAgent: costs },
    timeline: moves.map(({ at, from_state, to_state, trigger, duration_in_from_ms: ms }) => ({
      at,
      from: from_state,
      to: to_state,
      trigger,
      minutes: ms === null ? null : Math.round(ms / MS_PER_MINUTE),
    })),
  };
}

/** Files changed by the merged pull requests; those of the last submission if none is known. */
export function changedFilesOf(
  prs: readonly Pick<PullRequestRow, 'merged' | 'changed_files'>[],
  submitted: readonly string[],
): string[] {
  const merged = prs.filter((pr) => pr.merged).flatMap((pr) => pr.changed_files);
  return merged.length > 0 ? [...new Set(merged)].sort() : [...submitted];
}

async function movesOf(db: Db, tenantId: number, issueId: number) {
  const rows = await db
    .selectFrom('transitions')
    .select(['at', 'from_state', 'to_state', 'trigger', 'duration_in_from_ms'])
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .orderBy('id', 'desc')
    .limit(MAX_MOVES)
    .execute();
  return rows.reverse();
}

async function reviewCyclesOf(db: Db, tenantId: number, issueId: number): Promise<number> {
  const asked: State = 'changes-requested';
  const row = await db
    .selectFrom('transitions')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('to_state', '=', asked)
    .executeTakeFirstOrThrow();
  return row.n;
}

async function failuresOf(db: Db, tenantId: number, issueId: number): Promise<IssueHistory['failures']> {
  const rows = await db
    .selectFrom('runs')
    .select([
      'task_type as taskType',
      'attempt',
      'error_class as errorClass',
      sql<string>`left(error_message, ${sql.lit(MAX_MESSAGE)})`.as('message'),
      'finished_at as at',
    ])
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .where('task_type', 'in', [...WORK_TASK_TYPES] as TaskType[])
    .where('error_message', 'is not', null)
    .orderBy('id', 'desc')
    .limit(MAX_FAILURES)
    .execute();
  return rows.reverse();
}

const costsOf = (db: Db, tenantId: number, issueId: number): Promise<IssueHistory['costs']['byAgent']> =>
  db
    .selectFrom('runs')
    .select((eb) => ['agent', eb.fn.sum<number>('cost_usd').as('usd'), eb.fn.countAll<number>().as('runs')])
    .where('tenant_id', '=', tenantId)
    .where('issue_id', '=', issueId)
    .groupBy('agent')
    .orderBy('agent')
    .execute();

import { createHash } from 'node:crypto';
import { expect } from '@jest/globals';
import {
  AppError,
  branchOf,
  type ErrorClass,
  OUTCOMES_OF,
  type Outcome,
  type OutcomeName,
  retryDelayMs,
} from '@pipeline/domain';
import type { Report } from '@pipeline/engine';
import { type Params, prepared } from '@pipeline/store';
import { sql } from 'kysely';
import { BOT } from '../host/state.ts';
import { type Held, invocations, nextSha, type World } from '../world/world.ts';
import { type Lie, lyingReport, rowsOfOthers } from './lies.ts';
import { moves, NOTHING, type Verdict } from './verdict.ts';

const TEXT = 'because';
const RESULTS: { [N in OutcomeName]: (world: World, held: Held) => Extract<Outcome, { outcome: N }>['result'] } = {
  analyzed: () => ({}),
  'not-planned': () => ({ reason: TEXT }),
  planned: () => ({ plan: TEXT, plannedFiles: ['README.md'] }),
  split: () => ({
    subtasks: [
      { title: 'first part', body: TEXT, labels: [] },
      { title: 'second part', body: TEXT, labels: ['svc:enqueue'] },
    ],
  }),
  // On any issue that may exist, itself, a missing one, and one of an unknown repo.
  depends: (world, { costUsd }) => ({
    on: [['#1', '#2', '#3', '#4', '#99', 'no/where#1'][(world.shas + costUsd) % 6] ?? ''],
  }),
  'needs-clarification': () => ({ question: 'Which one?' }),
  submitted(world, { task }) {
    const branch = branchOf(task.issueNumber ?? 0);
    const headSha = nextSha(world);
    return { branch, headSha, title: 'Done', body: 'Fixes #1', changedFiles: ['README.md'] };
  },
  replan: () => ({ reason: TEXT }),
  approved: () => ({ body: TEXT }),
  'changes-requested': () => ({ body: TEXT, comments: [{ path: 'README.md', line: 1, body: TEXT }] }),
  'needs-human': () => ({ reason: TEXT }),
  mergeable: ({ host }, { task }) => ({
    headSha: host.state.branches.get(branchOf(task.issueNumber ?? 0)) ?? task.payload.pr?.headSha ?? 'abc0000',
  }),
  conflict: () => ({ files: [] }),
  'not-ready': () => ({ reason: TEXT }),
  retrospective: () => ({
    outcomeClassification: 'success',
    summary: TEXT,
    plannedFiles: null,
    actualFiles: null,
    failures: null,
    lessons: null,
  }),
  scanned: () => ({ headSha: null, truncated: false, files: [], symbols: [] }),
};

const FINDING: Report['findings'][number] = {
  findingType: 'risk',
  category: 'security',
  severity: 'high',
  confidence: null,
  title: 'A hole',
  summary: TEXT,
  recommendation: null,
  evidence: [],
  metadata: {},
  blocksProgress: true,
};

/** The worker's report: the index picks one of the outcomes of its task, 0 is the successful one. */
function outcomeOf(world: World, held: Held, index: number): Outcome {
  const names = OUTCOMES_OF[held.task.taskType];
  const outcome = names[index % names.length] ?? 'analyzed';
  const result = RESULTS[outcome](world, held);
  return { outcome, result } as Outcome;
}

/** Refusals are valid responses; any other error is a defect. */
export const refusal = (error: unknown): string => {
  if (error instanceof AppError && ['CLAIM_LOST', 'TASK_CANCELLED'].includes(error.code)) return error.code;
  throw error;
};

/** Codes of a refused lie: by the engine, and by the contract, which the engine is called without in one process. */
const MALFORMED: readonly string[] = ['INVALID_ARGUMENT', 'INVALID_BODY', 'INVALID_INPUT'];

/** A refusal of a lie; the claim is still valid. */
const refusalOfLie = (error: unknown): string =>
  error instanceof AppError && MALFORMED.includes(error.code) ? 'malformed' : refusal(error);

/** Claims for a worker. A process that crashes between claim and start leaves a claim that is never started. */
export async function take(world: World, worker: string, starts = true): Promise<Held | null> {
  const task = await world.acts.claim(worker);
  if (!task) return null;
  const held: Held = { worker, task, costUsd: 0, working: starts };
  world.held.push(held);
  if (starts) await world.acts.start(task);
  return held;
}

/** Returns whether the store holds the claim as valid: neither returned, reclaimed, withdrawn, nor expired. */
async function holds({ database }: World, { task }: Held): Promise<boolean> {
  const hash = createHash('sha256').update(task.claimToken).digest('hex');
  return (await claimThatHolds.first(database.db, { hash })) !== undefined;
}

const claimThatHolds = prepared(
  'model-claim-that-holds',
  (_db, p: Params<{ hash: string }>) => sql<object>`
    select from tasks t join runs r on r.id = t.run_id and r.task_id = t.id
    where r.claim_token_hash = ${p('hash')} and t.status = 'claimed' and r.lease_expires_at > svc_now()`,
);

/** Only the report of a valid claim is accepted; a repeated one gets its previous response. */
async function heardOnlyIfHeld<T>(world: World, held: Held, say: () => Promise<T>): Promise<T | string> {
  const isNew = held.said === undefined;
  const wasHeld = isNew && (await holds(world, held));
  const answer = await say().catch(refusal);
  if (isNew) expect({ wasHeld, heard: typeof answer !== 'string' }).toEqual({ wasHeld, heard: wasHeld });
  return answer;
}

export interface Ending {
  /** Index into the outcomes of the task's type; 0 is the successful one. */
  outcome: number;
  blocking: boolean;
  usd: number;
}

export async function finish(world: World, held: Held, ending: Ending): Promise<Verdict> {
  const outcome = outcomeOf(world, held, ending.outcome);
  if (outcome.outcome === 'submitted') world.host.state.push(outcome.result.branch, outcome.result.headSha, BOT);
  held.costUsd += ending.usd;
  const findings = ending.blocking ? [FINDING] : [];
  const body: Report = { ...outcome, artefacts: [], findings, invocations: invocations(world, held, held.costUsd) };
  const isFirst = held.said === undefined;
  const answer = await heardOnlyIfHeld(world, held, () => world.acts.report(held.task, body));
  held.said = { kind: 'report', body };
  held.working = false;
  const number = held.task.issueNumber ?? 0;
  if (typeof answer === 'string' || answer.state === null || !isFirst) return NOTHING;
  return { moves: [number], certain: { number, state: answer.state } };
}

/** Reports a lie instead of the result: only its own issue may change. A refused one leaves the claim as it was. */
export async function lie(world: World, held: Held, { outcome: index, lie }: { outcome: number; lie: Lie }) {
  const honest = outcomeOf(world, held, index);
  const branch = branchOf(held.task.issueNumber ?? 0);
  // Without any push the host would have nothing to open a pull request from.
  if (honest.outcome === 'submitted' && !world.host.state.branches.has(branch))
    world.host.state.push(branch, honest.result.headSha, BOT);
  const reported = lyingReport(world, held, honest, lie);
  const isFirst = held.said === undefined;
  const before = await rowsOfOthers(world, held);
  const answer = await world.acts.report(held.task, reported).catch(refusalOfLie);
  expect(await rowsOfOthers(world, held)).toEqual(before);
  if (answer === 'malformed') return NOTHING;
  held.said ??= { kind: 'report', body: reported };
  held.working = false;
  return typeof answer === 'string' || !isFirst ? NOTHING : moves(held.task.issueNumber ?? 0);
}

export async function fails(world: World, held: Held, [message, errorClass]: [string, ErrorClass]): Promise<Verdict> {
  const failure = { errorMessage: message, errorClass, invocations: invocations(world, held, held.costUsd) };
  const isFirst = held.said === undefined;
  const answer = await heardOnlyIfHeld(world, held, () => world.acts.fail(held.task, failure));
  held.said = { kind: 'fail', message, costUsd: held.costUsd };
  held.working = false;
  if (typeof answer === 'string') return NOTHING;
  if (!answer.requeued) return moves(held.task.issueNumber ?? 0);
  if (isFirst) expect(await hurried(world, held)).toEqual([]);
  return NOTHING;
}

export const ERRORS: [string, ErrorClass][] = [
  ['network down: ECONNRESET', 'transient'],
  ['permission denied', 'permanent'],
  ['too many requests', 'quota'],
  ['something odd', 'unknown'],
  ['something odd', 'quota'],
  ['something odd', 'permanent'],
];

/** Tasks that follow a failure and are claimable, or would be within the shortest backoff: they would fail again. */
export async function hurried({ database }: World, { task }: Held): Promise<unknown[]> {
  const shortestMs = retryDelayMs(task.attempt, 0);
  const { rows } = await sql`
    select held, run_after from tasks where status = 'pending' and issue_number = ${task.issueNumber}
      and task_type = ${task.taskType} and (held is null or run_after is null
        or run_after < svc_now() + ${shortestMs}::int * interval '1 ms')`.execute(database.db);
  return rows;
}

import {
  AGENT_OF,
  classifyError,
  fingerprint,
  MINUTE_MS,
  priorityOf,
  SECOND_MS,
  type TaskType,
  type WorkTaskType,
} from '@pipeline/domain';
import type { NewRow } from './insert-rows.ts';
import { iso, type Story } from './story.ts';

const MEDIAN_RUN_MS: Record<TaskType, number> = {
  analyze: 3 * MINUTE_MS,
  plan: 5 * MINUTE_MS,
  develop: 22 * MINUTE_MS,
  review: 6 * MINUTE_MS,
  merge: 2 * MINUTE_MS,
  retrospect: 4 * MINUTE_MS,
  'code-map-scan': 2 * MINUTE_MS,
};

const MAX_ATTEMPTS = 3;
const LEASE_MS = 60 * SECOND_MS;

const ERRORS = [
  'request timed out after 60000 ms',
  'HTTP 503 from the model provider',
  'CI failed: 3 of 214 checks',
  'merge conflict in src/index.ts',
  'tests failed: expected 3, received 4',
  'permission denied: contents:write is missing',
  'rate limit reached, try again in 900 seconds',
  'the agent made no progress for 15 minutes',
  'build failed: error TS2322 in src/index.ts',
  'stopped at 40 turns: max turns',
  'the change touches a protected path: .github/workflows',
  'invalid configuration: setup_command',
  'the budget of the day is exceeded',
  'missing context: which of the two currencies?',
  'the change was rejected',
];

/** One that names what its price is looked up by, one that has no price. */
const MODELS = [
  { model: 'claude-sonnet-4-5', provider: 'anthropic', usdPerMillion: 6 },
  { model: 'claude-haiku-4-5', provider: 'anthropic', usdPerMillion: 2 },
  { model: 'gpt-5', provider: 'openai', usdPerMillion: 4 },
  { model: 'house-model', provider: 'local', usdPerMillion: 0.3 },
] as const;

interface Work {
  taskType: TaskType;
  /** Outcome that the last attempt reports; null = no attempt succeeds. */
  outcome: string | null;
  /** Time at which the task is created. */
  from: number;
}

/** Result of work: the time of its last report, or the task that is still open at the end of the history. */
export type Worked = { at: number; runId: number } | { task: NewRow<'tasks'> };

const ATTEMPTS = [
  [1, 90],
  [2, 8],
  [3, 2],
] as const;

/** Attempts until one succeeds, or until none is left, each with its run and its model calls. */
export function work(story: Story, { taskType, outcome, from }: Work): Worked {
  const { draw } = story;
  const attempts = outcome === null ? MAX_ATTEMPTS : draw.weighted(ATTEMPTS);
  const workId = draw.uuid(from);
  const task: Task = { taskType, taskId: workId, workId, attempt: 0, enqueuedAt: from };
  let freeAt = from;
  for (; ; task.attempt += 1) {
    const isLast = task.attempt + 1 === attempts;
    const done = attempt(story, task, { freeAt, outcome: isLast ? outcome : null });
    if ('task' in done || isLast) return done;
    // A claim that was lost is the same task again; what failed is a new one, later.
    freeAt = done.lost ? done.at : done.at + draw.around(MINUTE_MS);
    if (!done.lost) Object.assign(task, { taskId: draw.uuid(done.at), enqueuedAt: done.at });
  }
}

/** A person acted while a worker was at it: its run was cancelled. */
export function withdraw(story: Story, { taskType, from, at }: { taskType: TaskType; from: number; at: number }): void {
  const { draw, end } = story;
  const claimedAt = from + draw.real() * (at - from);
  if (at >= end || !draw.chance(0.3)) return;
  const id = draw.uuid(from);
  const run = newRun(story, { taskType, taskId: id, workId: id, attempt: 0, enqueuedAt: from }, claimedAt);
  invoke(story, run, { from: claimedAt, to: at });
  Object.assign(run, { finished_at: iso(at), lease_expires_at: iso(at + LEASE_MS), status: 'cancelled' });
}

type Attempted = { at: number; runId: number; lost: boolean } | { task: NewRow<'tasks'> };

function attempt(story: Story, task: Task, how: { freeAt: number; outcome: string | null }): Attempted {
  const { draw, end } = story;
  const claimedAt = how.freeAt + draw.around(3 * MINUTE_MS);
  if (claimedAt >= end) return { task: pending(story, task, how.freeAt) };
  const run = newRun(story, task, claimedAt);
  const at = claimedAt + draw.around(MEDIAN_RUN_MS[task.taskType]);
  if (at >= end) {
    invoke(story, run, { from: claimedAt, to: end });
    return { task: claimed(story, task, run) };
  }
  invoke(story, run, { from: claimedAt, to: at });
  const lost = how.outcome === null && draw.chance(0.25);
  close(story, run, { at, outcome: how.outcome, lost });
  return { at, runId: run.id, lost };
}

interface Task {
  taskType: TaskType;
  taskId: string;
  workId: string;
  attempt: number;
  enqueuedAt: number;
}

type Run = NewRow<'runs'> & { id: number };

function newRun(story: Story, task: Task, claimedAt: number): Run {
  const { repo, draw, counters, rows } = story;
  counters.run += 1;
  const run: Run = {
    tenant_id: repo.tenantId,
    id: counters.run,
    task_id: task.taskId,
    work_id: task.workId,
    repo_id: repo.id,
    issue_id: story.issueId,
    issue_number: story.number,
    task_type: task.taskType,
    attempt: task.attempt,
    agent: AGENT_OF[task.taskType],
    compared_agent: comparedAgentOf(story.number, task.taskType),
    worker_id: draw.pick(repo.workerIds),
    claim_token_hash: draw.uuid(claimedAt),
    status: 'claimed',
    claimed_at: iso(claimedAt),
    started_at: iso(claimedAt + SECOND_MS),
    finished_at: null,
    lease_expires_at: iso(Math.max(claimedAt, story.end) + LEASE_MS),
    outcome: null,
    error_message: null,
    error_class: null,
    error_fingerprint: null,
    report_hash: null,
    report_answer: null,
    cost_usd: 0,
  };
  rows.runs.push(run);
  return run;
}

function close(story: Story, run: Run, how: { at: number; outcome: string | null; lost: boolean }): void {
  run.finished_at = iso(how.at);
  run.lease_expires_at = iso(how.at + LEASE_MS);
  run.status = how.outcome !== null ? 'finished' : how.lost ? 'lost' : 'failed';
  run.outcome = how.outcome;
  if (how.outcome !== null) return;
  const message = how.lost ? 'the worker fell silent' : story.draw.pick(ERRORS);
  run.error_message = message;
  run.error_class = how.lost ? 'transient' : classifyError({ message, reported: 'unknown', sameFingerprintCount: 1 });
  run.error_fingerprint = how.lost ? 'worker-lost' : fingerprint(message);
  story.lastError = message;
}

/**
 * Model calls of a run. One in five reported its cost while it ran: then its row is older than the run's end. The cost
 * of one in twelve is unreported.
 */
function invoke(story: Story, run: Run, { from, to }: { from: number; to: number }): void {
  const { draw, rows } = story;
  let micros = 0;
  const calls = draw.int(1, 3);
  for (let index = 0; index < calls; index += 1) {
    const { model, provider, usdPerMillion } = draw.pick(MODELS);
    const inputTokens = Math.round(draw.around(40_000));
    const outputTokens = Math.round(draw.around(4_000));
    const isReported = (run.id + index) % 12 !== 0;
    const cost = isReported ? Math.round((inputTokens + 5 * outputTokens) * usdPerMillion) : 0;
    micros += cost;
    if (!isReported) story.unreportedCosts += 1;
    const toldEarly = draw.chance(0.2) || to === story.end;
    rows.agent_invocations.push({
      tenant_id: run.tenant_id,
      run_id: run.id,
      invocation_index: index,
      model,
      provider,
      agent: agentOf(run, index),
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cache_read_tokens: Math.round(draw.around(90_000)),
      cache_write_tokens: Math.round(draw.around(9_000)),
      turns: Math.round(draw.around(12)),
      cost_usd: isReported ? cost / 1e6 : null,
      stop_reason: draw.weighted([
        ['completed', 88],
        ['max_turns', 5],
        ['no_progress', 4],
        ['error', 3],
      ]),
      created_at: iso(toldEarly ? from + draw.real() * (to - from) : to),
    });
  }
  run.cost_usd = micros / 1e6;
  story.costMicros += micros;
}

const AGENTS = ['claude', 'codex'];

/** Returns the agent that a comparison gave the development of the issue to (every third issue); '' = none. */
const comparedAgentOf = (number: number, taskType: TaskType): string =>
  taskType === 'develop' && number % 3 === 0 ? (AGENTS[(number / 3) % AGENTS.length] ?? '') : '';

/** Calls of a compared task name its agent, but for one in ten; of the others every second names one. */
function agentOf({ id, compared_agent: compared = '' }: Run, index: number): string | null {
  if (compared !== '') return (id + index) % 10 === 0 ? null : compared;
  return id % 2 === 0 ? null : (AGENTS[(id >> 1) % AGENTS.length] ?? null);
}

/** The order of creation decides who is first. */
function liveTask(story: Story, task: Task): NewRow<'tasks'> {
  const { repo, counters, rows } = story;
  counters.turn += 1;
  const row: NewRow<'tasks'> = {
    tenant_id: repo.tenantId,
    id: task.taskId,
    work_id: task.workId,
    repo_id: repo.id,
    issue_id: story.issueId,
    issue_number: story.number,
    task_type: task.taskType,
    status: 'pending',
    priority: priorityOf(task.taskType as WorkTaskType),
    turn: counters.turn,
    held: null,
    run_after: null,
    attempt: task.attempt,
    max_attempts: MAX_ATTEMPTS,
    handover_run_id: null,
    run_id: null,
    claimed_by: null,
    claimed_at: null,
    started_at: null,
    progress_at: null,
    lease_expires_at: null,
    created_at: iso(task.enqueuedAt),
  };
  rows.tasks.push(row);
  return row;
}

const HOLDS = [
  [null, 91],
  ['budget', 4],
  ['quota', 4],
  ['handover', 1],
] as const;

function pending(story: Story, task: Task, freeAt: number): NewRow<'tasks'> {
  const row = liveTask(story, task);
  const later = freeAt > story.end ? freeAt : story.end + MINUTE_MS;
  const drawn = task.attempt > 0 ? 'backoff' : story.draw.weighted(HOLDS);
  // One is handed over by the run before it.
  const before = story.rows.runs.findLast(({ issue_id }) => issue_id === story.issueId)?.id;
  const held = drawn === 'handover' && before === undefined ? null : drawn;
  return Object.assign(row, {
    held,
    run_after: held === 'backoff' || held === 'quota' ? iso(later) : null,
    handover_run_id: held === 'handover' ? (before ?? null) : null,
  });
}

function claimed(story: Story, task: Task, run: Run): NewRow<'tasks'> {
  return Object.assign(liveTask(story, task), {
    status: 'claimed',
    run_id: run.id,
    claimed_by: run.worker_id,
    claimed_at: run.claimed_at,
    started_at: run.started_at ?? null,
    progress_at: run.started_at ?? null,
    lease_expires_at: run.lease_expires_at,
  });
}

import {
  AGENT_OF,
  blockReasonOf,
  classifyError,
  DEFAULT_WORKFLOW,
  isBlockedState,
  MINUTE_MS,
  remembersOrigin,
  SECOND_MS,
  type State,
  stateBit,
  taskTypeOf,
  type WorkTaskType,
} from '@pipeline/domain';
import { closePullRequest, mergePullRequest, openPullRequest } from './pull-requests.ts';
import { keepFinding, lookBack, stuckInLetter } from './side-effects.ts';
import { iso, record, type Story } from './story.ts';
import { MEDIAN_DWELL_MS, WAYS, type Way } from './ways.ts';
import { withdraw, work } from './work.ts';

/** An issue that goes in a cycle stops after so many moves. */
const MOST_MOVES = 80;

/** Takes an issue through the pipeline, from its entry to the end of the history. */
export function walk(story: Story): void {
  for (let moves = 0; moves < MOST_MOVES; moves += 1) {
    if (stuckInLetter(story)) return;
    const way = story.draw.weighted(WAYS[story.state].map((one) => [one, one.weight] as const));
    const at = leaving(story, way);
    if (at === null || at >= story.end) return;
    move(story, way, at);
  }
}

/** Returns the time at which the issue leaves its state; null = not within the history. */
function leaving(story: Story, way: Way): number | null {
  const { draw, state, since, freeAt } = story;
  if (state === 'done') return draw.chance(0.04) ? since + draw.around(MEDIAN_DWELL_MS.done ?? 0) : null;
  if (state === 'new') return draw.chance(0.9) ? since : since + draw.around(20 * MINUTE_MS);
  const taskType = taskTypeOf(DEFAULT_WORKFLOW, state);
  if (taskType === null) return since + draw.around(MEDIAN_DWELL_MS[state] ?? MINUTE_MS);
  const from = state === 'in-review' ? openPullRequest(story, freeAt) : freeAt;
  // A person acts at any time: the task is withdrawn, from a worker who is at it or before it was claimed.
  if (from >= story.end || way.by === 'operator') {
    const at = from + draw.around(4 * MINUTE_MS);
    withdraw(story, { taskType, from, at });
    return at;
  }
  return worked(story, way, { taskType, from });
}

function worked(story: Story, { trigger, by }: Way, { taskType, from }: { taskType: WorkTaskType; from: number }) {
  const asksToMerge = taskType === 'merge' && by === 'workflow-engine';
  const success = asksToMerge ? 'mergeable' : trigger;
  const done = work(story, { taskType, outcome: trigger === 'exhausted' ? null : success, from });
  if ('task' in done) return null;
  keepFinding(story, done, AGENT_OF[taskType]);
  return asksToMerge ? done.at + story.draw.around(5 * SECOND_MS) : done.at;
}

function move(story: Story, way: Way, at: number): void {
  const { repo, state: from, since, counters, rows } = story;
  const to = way.to === 'origin' ? (story.origin ?? 'planning') : way.to;
  const agent = way.by === 'agent' ? AGENT_OF[taskTypeOf(DEFAULT_WORKFLOW, from) ?? 'analyze'] : null;
  counters.transition += 1;
  rows.transitions.push({
    tenant_id: repo.tenantId,
    id: counters.transition,
    repo_id: repo.id,
    issue_id: story.issueId,
    from_state: from,
    to_state: to,
    trigger: way.trigger,
    forced: way.trigger === 'operator',
    agent,
    actor_type: way.by,
    actor_id: { agent: repo.workerIds[0] ?? '', operator: 'olga', system: 'auto-unblock', 'workflow-engine': null }[
      way.by
    ],
    reason: way.by === 'operator' ? 'so it should be' : null,
    duration_in_from_ms: Math.floor(at) - Math.floor(since),
    at: iso(at),
    admitted_at: iso(story.enteredAt),
    is_first: (story.reached & stateBit(to)) === 0,
  });
  enter(story, { from, to, trigger: way.trigger }, at);
}

/** Adds a move to a state, with the rows that go with it or follow from it. */
function enter(
  story: Story,
  { from, to, trigger }: { from: State; to: State; trigger: Way['trigger'] },
  at: number,
): void {
  if (isBlockedState(from) !== isBlockedState(to)) noteBlock(story, { from, to, trigger }, at);
  wait(story, from, to, at);
  story.origin = remembersOrigin(to) ? (remembersOrigin(from) ? story.origin : from) : null;
  story.state = to;
  story.reached |= stateBit(to);
  story.since = at;
  story.freeAt = at;
  if (trigger === 'planned') story.planned = true;
  if (trigger === 'submitted') story.submitted = true;
  if (to === 'done') end(story, trigger, at);
  else if (trigger === 'pr-closed' || trigger === 'reimplement') closePullRequest(story, at);
  if (trigger === 'approved' || trigger === 'changes-requested')
    record(story, at, { type: 'review_submitted', agent: 'reviewer', payload: { prNumber: story.pr?.number ?? null } });
  const action = ACTIONS[trigger];
  if (!action) return;
  record(story, at, { type: 'operator_action', agent: 'olga', payload: { action, actorId: 'olga', reason: null } });
}

const ACTIONS: Partial<Record<Way['trigger'], string>> = { cancelled: 'cancel', reimplement: 'reimplement' };

function end(story: Story, trigger: Way['trigger'], at: number): void {
  const merged = trigger === 'merged' || trigger === 'host-merged';
  if (merged) mergePullRequest(story, at, trigger === 'merged' ? 'merger' : 'operator');
  else closePullRequest(story, at);
  lookBack(story, { at, merged });
}

function noteBlock(
  story: Story,
  { from, to, trigger }: { from: State; to: State; trigger: Way['trigger'] },
  at: number,
): void {
  const message = story.lastError ?? '';
  const errorClass = classifyError({ message, reported: 'unknown', sameFingerprintCount: 1 });
  const taskType = taskTypeOf(DEFAULT_WORKFLOW, from) ?? 'analyze';
  const before = story.blockReason;
  story.blockReason = !isBlockedState(to)
    ? null
    : to === 'dependency-blocked'
      ? 'dependency_open'
      : trigger === 'pr-closed'
        ? 'pr_closed'
        : blockReasonOf({ message, taskType, errorClass });
  story.blockClass = to === 'failure-blocked' ? errorClass : null;
  record(story, at, {
    type: isBlockedState(to) ? 'issue_blocked' : 'issue_unblocked',
    agent: 'workflow-engine',
    payload: { blockReason: story.blockReason ?? before, classification: story.blockClass, automatic: true },
  });
}

/** No repo has so many. */
const UNKNOWN_ISSUE = 1_000_000;

/** The edges by which an issue waits for others of its repo. */
function wait(story: Story, from: State, to: State, at: number): void {
  const { edges, repo, draw, number } = story;
  if (from === 'dependency-blocked' || from === 'waiting-for-subtasks') {
    // Some are forgotten.
    for (const edge of edges.values())
      if (draw.chance(0.97)) Object.assign(edge, { active: false, resolved_by: 'done', resolved_at: iso(at) });
  }
  if ((to !== 'dependency-blocked' && to !== 'waiting-for-subtasks') || number === 1) return;
  const kind = to === 'dependency-blocked' ? 'depends_on' : 'subtask';
  // Now and then one that the pipeline has no record of.
  const other = draw.chance(0.02) ? UNKNOWN_ISSUE + number : draw.int(1, number - 1);
  const [child, parent] = kind === 'subtask' ? [other, number] : [number, other];
  edges.set(`${kind} ${other}`, {
    tenant_id: repo.tenantId,
    kind,
    child_repo_id: repo.id,
    child_issue_number: child,
    child_issue_id: null,
    parent_repo_id: repo.id,
    parent_issue_number: parent,
    parent_issue_id: null,
    active: true,
    resolved_by: null,
    resolved_at: null,
    created_at: iso(at),
  });
}

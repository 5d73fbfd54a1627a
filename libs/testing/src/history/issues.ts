import { DAY_MS, isBlockedState, outputLabels, stateBit } from '@pipeline/domain';
import { type Chronicle, iso, record, type Story, type StoryRepo } from './story.ts';
import { walk } from './walk.ts';

/** Writes the whole life of one issue into the rows. */
export function tellIssue(
  chronicle: Chronicle,
  repo: StoryRepo,
  { number, enteredAt }: { number: number; enteredAt: number },
): void {
  chronicle.counters.issue += 1;
  const story: Story = {
    ...chronicle,
    repo,
    issueId: chronicle.counters.issue,
    number,
    enteredAt,
    state: 'new',
    since: enteredAt,
    freeAt: enteredAt,
    origin: null,
    reached: stateBit('new'),
    pr: null,
    planned: false,
    submitted: false,
    costMicros: 0,
    unreportedCosts: 0,
    lastError: null,
    blockReason: null,
    blockClass: null,
    edges: new Map(),
  };
  walk(story);
  const pausedAt = pause(story);
  chronicle.rows.issue_edges.push(...story.edges.values());
  keepIssue(story, pausedAt);
}

/** Some issues are paused, and some of them still are. @returns since when this one is; null = it is not. */
function pause(story: Story): number | null {
  const { draw, since, end, rows, issueId } = story;
  if (!draw.chance(0.06)) return null;
  const at = since + draw.real() * Math.min(end - since, DAY_MS);
  record(story, at, { type: 'issue_paused', agent: 'operator', payload: { actorId: 'olga' } });
  if (draw.chance(0.4)) {
    const resumedAt = at + draw.real() * (end - at);
    record(story, resumedAt, { type: 'issue_resumed', agent: 'operator', payload: { actorId: 'olga' } });
    return null;
  }
  if (story.state === 'done') return null;
  const task = rows.tasks.at(-1);
  if (task?.issue_id === issueId && task.status === 'pending') Object.assign(task, { held: 'paused', run_after: null });
  return at;
}

function keepIssue(story: Story, pausedAt: number | null): void {
  const { draw, repo, number, enteredAt, state, since, rows } = story;
  const isBlocked = isBlockedState(state);
  const shown = outputLabels({ state, isBlocked, isPaused: pausedAt !== null });
  const host = enteredAt - draw.around(DAY_MS / 24);
  rows.issues.push({
    tenant_id: repo.tenantId,
    id: story.issueId,
    repo_id: repo.id,
    issue_number: number,
    title: `Issue ${number} of ${repo.name}`,
    body: 'Something is wrong.',
    url: `http://127.0.0.1/${repo.owner}/${repo.name}/issues/${number}`,
    author: draw.pick(['ann', 'ben', 'cleo']),
    // A person took a label off, or set one of ours.
    labels: [...(draw.chance(0.02) ? ['svc:planning'] : shown), draw.pick(['bug', 'feature', 'docs'])],
    state,
    state_entered_at: iso(since),
    is_blocked: isBlocked,
    is_paused: pausedAt !== null,
    paused_at: pausedAt === null ? null : iso(pausedAt),
    block_reason: isBlocked ? story.blockReason : null,
    block_classification: isBlocked ? story.blockClass : null,
    blocked_from_state: story.origin,
    question: state === 'needs-clarification' ? 'Which of the two?' : null,
    plan: story.planned ? 'First this, then that.' : null,
    planned_files: story.planned ? ['src/index.ts', 'src/a.ts'] : [],
    submitted_files: story.submitted ? ['src/index.ts'] : [],
    last_error: story.lastError,
    current_status: draw.chance(0.5) ? 'reading the code' : null,
    last_event_at: iso(since),
    cost_usd: story.costMicros / 1e6,
    unreported_costs: story.unreportedCosts,
    auto_unblock_count: 0,
    quota_waited_ms: 0,
    reached_states: story.reached,
    host_created_at: iso(host),
    host_updated_at: iso(since),
    created_at: iso(enteredAt),
    updated_at: iso(since),
  });
}

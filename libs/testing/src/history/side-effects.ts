import {
  AGENT_OF,
  DEFAULT_WORKFLOW,
  HOUR_MS,
  OUTCOME_CLASSIFICATIONS,
  OUTCOMES_OF,
  SEVERITIES,
  type State,
  taskTypeOf,
} from '@pipeline/domain';
import { iso, record, type Story } from './story.ts';
import { work } from './work.ts';

/**
 * A transition that was refused, now and then: a dead letter, and the issue stands without a task until a person
 * resolves it. @returns true where no one has.
 */
export function stuckInLetter(story: Story): boolean {
  const { draw, repo, rows, state, since, end } = story;
  const taskType = taskTypeOf(DEFAULT_WORKFLOW, state);
  if (taskType === null || !draw.chance(0.006)) return false;
  const worked = work(story, { taskType, outcome: OUTCOMES_OF[taskType][0] ?? null, from: since });
  if ('task' in worked) return true;
  const resolvedAt = worked.at + draw.around(5 * HOUR_MS);
  const resolved = resolvedAt < end && draw.chance(0.8);
  const id = draw.uuid(worked.at);
  rows.dead_letters.push({
    tenant_id: repo.tenantId,
    id,
    repo_id: repo.id,
    issue_id: story.issueId,
    issue_number: story.number,
    from_state: state,
    target_state: 'done',
    agent_name: AGENT_OF[taskType],
    error: `no edge leaves ${state} on merged`,
    cause: { kind: 'decision', cause: { trigger: 'merged' } },
    created_at: iso(worked.at),
    resolved_at: resolved ? iso(resolvedAt) : null,
    resolved_by: resolved ? 'olga' : null,
    resolution: resolved ? draw.pick(['retried', 'resolved']) : null,
  });
  record(story, worked.at, { type: 'dead_letter_created', agent: AGENT_OF[taskType], payload: { deadLetterId: id } });
  if (!resolved) return true;
  story.freeAt = resolvedAt;
  return false;
}

const FINDING_TYPES = [
  ...['ci_failure', 'cost_anomaly', 'deterministic_check_failure', 'integration_gap', 'integration_issue', 'obs'],
  ...['pre_existing_check_failure', 'protected_path_violation', 'requirements_gap', 'review_finding', 'risk'],
  ...['semantic_conflict', 'smell'],
];

/** Adds a finding that an agent reports during a run, in 6 % of the runs. */
export function keepFinding(story: Story, { at, runId }: { at: number; runId: number }, agent: string): void {
  const { draw, repo, rows, number } = story;
  if (!draw.chance(0.06)) return;
  const id = draw.uuid(at);
  const category = draw.pick(['security', 'performance', 'maintainability', 'correctness']);
  rows.findings.push({
    tenant_id: repo.tenantId,
    id,
    repo_id: repo.id,
    issue_id: story.issueId,
    pr_number: story.pr?.number ?? null,
    run_id: runId,
    agent_name: agent,
    finding_type: draw.pick(FINDING_TYPES),
    category,
    severity: draw.pick(SEVERITIES),
    confidence: Math.round(draw.real() * 100) / 100,
    title: `A matter of ${category}`,
    summary: `Seen at issue ${number}.`,
    recommendation: null,
    evidence: [] as never,
    metadata: {},
    blocks_progress: draw.chance(0.05),
    status: draw.weighted([
      ['open', 50],
      ['accepted', 12],
      ['resolved', 22],
      ['dismissed', 12],
      ['superseded', 4],
    ]),
    created_at: iso(at),
    updated_at: iso(at),
  });
  rows.finding_sightings.push({
    tenant_id: repo.tenantId,
    finding_id: id,
    issue_id: story.issueId,
    run_id: runId,
    seen_at: iso(at),
  });
  record(story, at, { type: 'finding_opened', agent, payload: { findingId: id } });
}

/** An issue with work to look back on is looked back on. */
export function lookBack(story: Story, { at, merged }: { at: number; merged: boolean }): void {
  const { draw, repo, rows } = story;
  if (!merged && !story.planned) return;
  // One of each kind is alive at most: an issue that comes back would ask for a second one.
  if (rows.tasks.at(-1)?.issue_id === story.issueId) return;
  const callsBefore = rows.agent_invocations.length;
  const error = story.lastError;
  const worked = work(story, { taskType: 'retrospect', outcome: draw.chance(0.97) ? 'retrospective' : null, from: at });
  story.lastError = error;
  if (!('task' in worked) && rows.runs.at(-1)?.outcome === null)
    record(story, worked.at, {
      type: 'task_given_up',
      agent: AGENT_OF.retrospect,
      payload: { taskType: 'retrospect' },
    });
  if (
    'task' in worked ||
    rows.runs.at(-1)?.outcome !== 'retrospective' ||
    rows.agent_invocations.length === callsBefore
  )
    return;
  const files = ['src/index.ts', 'src/a.ts', 'src/b.ts', 'src/c.ts'];
  const some = (state: State) => ({ files: files.filter(() => draw.chance(state === 'done' ? 0.8 : 0.6)) });
  rows.retrospectives.push({
    tenant_id: repo.tenantId,
    id: draw.uuid(worked.at),
    repo_id: repo.id,
    issue_id: story.issueId,
    run_id: worked.runId,
    status: 'complete',
    outcome_classification: merged
      ? draw.weighted([
          ['success', 75],
          ['partial', 25],
        ])
      : draw.pick(OUTCOME_CLASSIFICATIONS),
    summary: 'It went as it went.',
    planned_files: (story.planned && draw.chance(0.9) ? some('done') : null) as never,
    actual_files: (story.submitted && draw.chance(0.9) ? some('new') : null) as never,
    failures: null,
    lessons: null,
    created_at: iso(worked.at),
    updated_at: iso(worked.at),
  });
}

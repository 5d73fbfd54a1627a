import { AGENT_OF, STATES, utcMidnight } from '@pipeline/domain';
import { usdOf } from './arithmetic.ts';
import { consistencyOf } from './consistency.ts';
import type { Rows } from './rows.ts';

type Labels = Record<string, string>;

/** `name{label="value",…}`, the labels in their order. */
const keyOf = (name: string, labels: Labels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}="${value}"`)
    .join(',')}}`;

class Samples {
  readonly values = new Map<string, number>();

  add(name: string, labels: Labels, value = 1): void {
    const key = keyOf(name, labels);
    this.values.set(key, (this.values.get(key) ?? 0) + value);
  }
}

const OUTCOMES: Record<string, string> = {
  task_completed: 'completed',
  task_failed: 'failed',
  task_given_up: 'given_up',
};
const KINDS = ['input', 'output', 'cache_read', 'cache_write'];

/** The samples of `/prometheus` that are computed from the store, by their text. Repos with one name are added up. */
export function samplesOf(rows: Rows, now: number): Record<string, number> {
  const samples = new Samples();
  const slugs = new Map(rows.repos.map(({ id, slug }) => [id, slug]));
  const repoOf = ({ repoId }: { repoId: number }) => slugs.get(repoId) ?? '';
  for (const repo of slugs.values()) {
    for (const state of STATES) samples.add('svc_pipeline_issues', { repo, state }, 0);
    for (const flag of ['blocked', 'paused']) samples.add(`svc_pipeline_issues_${flag}`, { repo }, 0);
  }
  for (const issue of rows.issues) {
    const repo = repoOf(issue);
    samples.add('svc_pipeline_issues', { repo, state: issue.state });
    samples.add('svc_pipeline_issues_blocked', { repo }, Number(issue.isBlocked));
    samples.add('svc_pipeline_issues_paused', { repo }, Number(issue.isPaused));
  }
  for (const task of rows.tasks) {
    samples.add('svc_tasks', { repo: repoOf(task), task_type: task.type, status: task.status });
  }
  for (const { type } of rows.tasks.filter(({ status, issueId }) => status === 'claimed' && issueId !== null)) {
    samples.add('svc_agent_in_flight_issues', { agent: AGENT_OF[type] });
  }
  for (const deadLetter of rows.deadLetters.filter(({ isResolved }) => !isResolved)) {
    samples.add('svc_dead_letters_unresolved', { repo: repoOf(deadLetter) });
  }
  for (const { kind } of consistencyOf(rows)) samples.add('svc_consistency_findings', { kind });
  addTotals(samples, rows, repoOf);
  addMoney(samples, rows, now);
  return Object.fromEntries(samples.values);
}

/** What has happened ever. */
function addTotals(samples: Samples, rows: Rows, repoOf: (of: { repoId: number }) => string): void {
  for (const move of rows.transitions) {
    samples.add('svc_state_transitions_total', { repo: repoOf(move), from: move.from, to: move.to });
  }
  for (const { type, task } of rows.events) {
    const outcome = OUTCOMES[type];
    if (outcome && task) samples.add('svc_tasks_finished_total', { task_type: task, outcome });
    if ((type === 'task_failed' || type === 'task_reclaimed') && task)
      samples.add('svc_task_retries_total', { task_type: task });
  }
  for (const { repoId, agent, model, tokens, isReported } of rows.invocations) {
    if (!isReported) samples.add('svc_unreported_costs_total', { repo: repoOf({ repoId }), agent, model });
    for (const [place, kind] of KINDS.entries()) samples.add('svc_tokens_total', { model, kind }, tokens[place] ?? 0);
  }
}

function addMoney(samples: Samples, rows: Rows, now: number): void {
  const repos = new Map(rows.repos.map((repo) => [repo.id, repo]));
  const costs = Map.groupBy(rows.costs, ({ repoId, agent, model }) =>
    keyOf('svc_cost_usd_total', { repo: repos.get(repoId)?.slug ?? '', agent, model }),
  );
  for (const [key, all] of costs)
    samples.values.set(
      key,
      all.reduce((sum, { usd }) => sum + usd, 0),
    );
  const at = new Date(now);
  const starts = { day: utcMidnight(at).getTime(), month: Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1) };
  for (const { externalId: tenant } of rows.tenants) {
    for (const [window, from] of Object.entries(starts)) {
      const own = rows.costs.filter((cost) => cost.at >= from && repos.get(cost.repoId)?.tenant === tenant);
      samples.add('svc_tenant_spend_usd', { tenant, window }, usdOf(own));
    }
  }
}

import type { MetricDefinition } from './metric-definition.ts';

/** Time after a merge within which a revert counts against the agent. */
export const REVERT_DAYS = 14;

const perAgent = { group: 'Per agent', window: 'as requested' } as const;
const field = (name: string) => `GET /api/agents/scoreboard, items[].${name}`;

/** Metrics of the scoreboard, by agent and model. */
export const AGENT_METRICS: readonly MetricDefinition[] = [
  {
    ...perAgent,
    id: 'agent_merged_issues',
    label: 'Merged issues',
    unit: 'count',
    formula:
      "issues whose first merge of the pipeline's own pull request falls in the window; an issue belongs to the agent and model of the first develop run that submitted it, as reported by the first invocation of that run; without one, to the agent that the comparison selected",
    source: field('mergedIssues'),
  },
  {
    ...perAgent,
    id: 'agent_first_pass_review',
    label: 'First-pass review rate',
    unit: 'percent',
    formula:
      'merged issues for which no agent or person requested changes before the merge / merged issues; changes after a merge conflict or failed checks do not count',
    source: field('firstPassReviewPct'),
  },
  {
    ...perAgent,
    id: 'agent_first_pass_ci',
    label: 'First-pass CI rate',
    unit: 'percent',
    formula:
      'merged issues that failed checks never returned to development before the merge / merged issues with at least one recorded check of the merged head; a check that failed and then passed on the same commit, or that failed before an approval and was replaced by a push, is not seen',
    source: field('firstPassCiPct'),
  },
  {
    ...perAgent,
    id: 'agent_reverts',
    label: 'Reverts',
    unit: 'count',
    formula: `merged issues whose pull request was reverted within ${REVERT_DAYS} days by a merged pull request that names it or its merge commit; recent merges may still be reverted, and a revert by a plain push is not seen`,
    source: field('reverts'),
  },
  {
    ...perAgent,
    id: 'agent_wall_time',
    label: 'Wall time',
    unit: 'minutes',
    formula:
      'median over merged issues of the total time from claim to end of all develop runs of the issue that were claimed before the merge, failed ones included',
    source: field('wallTimeMinutes'),
  },
  {
    ...perAgent,
    id: 'agent_cost_per_merge',
    label: 'Cost per merged pull request',
    unit: 'usd',
    formula:
      'cost of the same develop runs / merged issues, over the merged issues with invocations all of which have a cost (pricedIssues); other merged issues are left out, and unreportedCosts counts their invocations without a cost',
    source: field('costPerMergeUsd'),
  },
];

import { AGENT_OF, STATES, type State, sumUsd } from '@pipeline/domain';
import type { StateCount } from '@pipeline/store';
import type { Counts, Live } from './dashboard-readings.ts';
import { namesOf, repoKey } from './dashboard-repo-names.ts';

/** Issues of all repos by state, and the flags across states: paused and blocked ones that are not done. */
export function pipelineSummary({ counts }: Pick<Counts, 'counts'>): Record<State | 'paused' | 'blocked', number> {
  const open = counts.filter(({ state }) => state !== 'done');
  const marked = (mark: (count: StateCount) => boolean) => open.filter(mark).reduce((sum, { n }) => sum + n, 0);
  return {
    ...(Object.fromEntries(STATES.map((state) => [state, countOf(counts, [state])])) as Record<State, number>),
    paused: marked(({ isPaused }) => isPaused),
    blocked: marked(({ isBlocked }) => isBlocked),
  };
}

/** Current task of an agent and its cost since midnight UTC, in USD. */
export interface AgentWork {
  costUsd: number;
  /** Issues as `owner/repo#N`. */
  inFlightIssues: string[];
  /** Spending by the external id of the tenant. */
  tenantSpend: Record<string, number>;
}

/** Returns the work of every agent that has any, by its name. */
export function agentWork(
  { repos }: Pick<Counts, 'repos'>,
  { inFlight, agentSpend, budgets }: Pick<Live, 'inFlight' | 'agentSpend' | 'budgets'>,
) {
  const tenants = new Map(budgets.tenants.map(({ tenantId, externalId }) => [tenantId, externalId]));
  const names = namesOf(repos);
  const work = new Map<string, AgentWork>();
  const of = (agent: string): AgentWork => {
    const known = work.get(agent) ?? { costUsd: 0, inFlightIssues: [], tenantSpend: {} };
    work.set(agent, known);
    return known;
  };
  for (const { taskType, issueNumber, ...repo } of inFlight) {
    const name = names.get(repoKey(repo));
    if (name) of(AGENT_OF[taskType]).inFlightIssues.push(`${name}#${issueNumber}`);
  }
  for (const [agent, spent] of Map.groupBy(agentSpend, (row) => row.agent)) {
    const byTenant = [...Map.groupBy(spent, ({ tenantId }) => tenantId)].map(
      ([id, rows]) => [tenants.get(id) ?? String(id), sumUsd(rows.map(({ usd }) => usd))] as const,
    );
    of(agent).tenantSpend = Object.fromEntries(byTenant);
    of(agent).costUsd = sumUsd(spent.map(({ usd }) => usd));
  }
  return work;
}

/** Sums up counts of states. */
const countOf = (counts: readonly StateCount[], states: readonly State[]): number =>
  counts.reduce((sum, { state, n }) => (states.includes(state) ? sum + n : sum), 0);

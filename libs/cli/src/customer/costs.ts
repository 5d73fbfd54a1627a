import { table } from '../command/table.ts';
import type { CostSummary } from './operations.ts';
import { cell, lines, usdWith } from './render.ts';

const ROWS = 100;

type Windows = Omit<CostSummary['byRepo'][number], 'repo'>;

const windows = (cost: Windows): string[] => [
  usdWith(cost.last24hUsd, cost.last24hUnreportedCosts),
  usdWith(cost.last7dUsd, cost.last7dUnreportedCosts),
  usdWith(cost.last30dUsd, cost.last30dUnreportedCosts),
  usdWith(cost.lifetimeUsd, cost.lifetimeUnreportedCosts),
];

/** Formats costs as two tables: by repository and by agent, the first rows of each. */
export function costsText(costs: CostSummary): string {
  const byRepo = costs.byRepo.slice(0, ROWS).map((one) => [cell(one.repo), ...windows(one)]);
  const byAgent = costs.byAgent
    .slice(0, ROWS)
    .map(({ agent, usd, invocations, unreportedCosts }) => [cell(agent), usdWith(usd, unreportedCosts), invocations]);
  const hidden = Math.max(costs.byRepo.length, costs.byAgent.length) > ROWS;
  return lines(
    table(['REPOSITORY', '24 H', '7 D', '30 D', 'ALL'], [...byRepo, ['total', ...windows(costs)]], ''),
    '',
    table(['AGENT', 'ALL', 'INVOCATIONS'], byAgent, 'no invocations'),
    hidden && `only the first ${ROWS} rows are shown; --json prints all`,
  );
}

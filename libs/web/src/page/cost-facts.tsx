import { CostFigure } from './cost-figure.tsx';
import { Facts } from './facts.tsx';

/** Sums in USD and the invocations that each lacks, as both services have them. */
interface Costs {
  todayUsd: number;
  todayUnreportedCosts: number;
  last24hUsd: number;
  last24hUnreportedCosts: number;
  last7dUsd: number;
  last7dUnreportedCosts: number;
  last30dUsd: number;
  last30dUnreportedCosts: number;
  lifetimeUsd: number;
  lifetimeUnreportedCosts: number;
}

/** The costs of each span of time. @param today name of the span since 00:00 UTC. */
export function CostFacts({ costs, today }: { costs: Costs; today: string }) {
  const spans: [string, number, number][] = [
    [today, costs.todayUsd, costs.todayUnreportedCosts],
    ['24 hours', costs.last24hUsd, costs.last24hUnreportedCosts],
    ['7 days', costs.last7dUsd, costs.last7dUnreportedCosts],
    ['30 days', costs.last30dUsd, costs.last30dUnreportedCosts],
    ['All time', costs.lifetimeUsd, costs.lifetimeUnreportedCosts],
  ];
  return (
    <Facts
      facts={spans.map(([name, usd, unreported]) => ({
        name,
        value: <CostFigure usd={usd} unreported={unreported} />,
      }))}
    />
  );
}

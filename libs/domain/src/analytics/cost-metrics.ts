import { sumUsd } from '../figures.ts';
import { utcMidnight } from '../windows.ts';
import type { Metric } from './definition.ts';
import { inPeriod } from './issue-facts.ts';

export const COST_METRICS: readonly Metric[] = [
  {
    id: 'cost_today',
    group: 'Cost',
    label: 'Cost today',
    unit: 'usd',
    window: 'since midnight UTC',
    formula: 'sum of cost event amounts since midnight UTC',
    source: 'GET /api/pipeline/cost-summary, todayUsd',
    compute({ costs }, { now }) {
      const from = utcMidnight(new Date(now)).getTime();
      return sumUsd(costs.filter(({ at }) => inPeriod({ from, now }, at)).map(({ usd }) => usd));
    },
  },
  {
    id: 'cost',
    group: 'Cost',
    label: 'Cost',
    unit: 'usd',
    window: '24 h, 7 d, 30 d or lifetime',
    formula: 'sum of cost event amounts over the window',
    source: 'GET /api/pipeline/cost-summary, last24hUsd, last7dUsd, last30dUsd, lifetimeUsd',
    compute: ({ costs }, period) => sumUsd(costs.filter(({ at }) => inPeriod(period, at)).map(({ usd }) => usd)),
  },
];

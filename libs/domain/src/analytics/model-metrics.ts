import { percent, sumUsd } from '../figures.ts';
import type { Metric, Period } from './definition.ts';
import type { History, InvocationFact } from './history.ts';
import { inPeriod } from './issue-facts.ts';

const perModel = { group: 'Per model', unit: 'percent', window: 'as requested' } as const;
const route = (field: string) => `GET /api/pipeline/cost-by-model, models[].${field}`;

/** Percent of each model's invocations that stopped for a reason. */
function rateOf({ invocations }: History, period: Period, reason: InvocationFact['stopReason']) {
  const groups = Map.groupBy(
    invocations.filter(({ at }) => inPeriod(period, at)),
    ({ model }) => model,
  );
  return Object.fromEntries(
    [...groups].map(([model, all]) => {
      const stopped = all.filter(({ stopReason }) => stopReason === reason).length;
      return [model, percent(stopped, all.length) ?? 0];
    }),
  );
}

export const MODEL_METRICS: readonly Metric[] = [
  {
    ...perModel,
    id: 'model_spend_share',
    label: 'Model Spend Share',
    formula: 'spending on the model / spending on all models',
    source: route('sharePct'),
    compute({ costs }, period) {
      const booked = costs.filter(({ at }) => inPeriod(period, at));
      const total = sumUsd(booked.map(({ usd }) => usd));
      const groups = Map.groupBy(booked, ({ model }) => model);
      return Object.fromEntries(
        [...groups].map(([model, all]) => [model, percent(sumUsd(all.map(({ usd }) => usd)), total) ?? 0]),
      );
    },
  },
  {
    ...perModel,
    id: 'max_turns_rate',
    label: 'Max-Turns Rate',
    formula: 'invocations that hit the turn limit / invocations',
    source: route('maxTurnsRate'),
    compute: (history, period) => rateOf(history, period, 'max_turns'),
  },
  {
    ...perModel,
    id: 'no_progress_rate',
    label: 'No-Progress Rate',
    formula: 'invocations without meaningful progress / invocations',
    source: route('noProgressRate'),
    compute: (history, period) => rateOf(history, period, 'no_progress'),
  },
];

import { METRIC_GROUPS, METRIC_REGISTRY } from '../src/index.ts';
import { GENERATED, table } from './markdown.ts';

/** The definitions of the dashboard's figures, by group. */
export const metricsPage = (): string =>
  [
    GENERATED,
    '# Metrics',
    'Definitions of the metrics of the dashboard, the API and the regression guard. `GET /api/metric-definitions` returns the same definitions.',
    'Windows end now and include their start. Without samples, a rate, mean or median is null, and a count or sum is 0. Percentages have one decimal, USD four. Times of pull requests and of issue creation are those of the host.',
    ...METRIC_GROUPS.flatMap(section),
    '',
  ].join('\n\n');

function section(group: (typeof METRIC_GROUPS)[number]): string[] {
  const rows = METRIC_REGISTRY.filter((definition) => definition.group === group).map((definition) => [
    definition.label,
    `\`${definition.id}\``,
    definition.unit ?? '-',
    definition.window,
    definition.formula,
    definition.source,
  ]);
  return [`## ${group}`, table(['metric', 'id', 'unit', 'window', 'rule', 'served by'], rows)];
}

import { METRIC_GROUPS, METRIC_REGISTRY, type MetricGroup } from '../src/index.ts';
import { GENERATED, table } from './markdown.ts';

/** The definitions of the dashboard's figures, by group. */
export const metricsPage = (): string =>
  [
    GENERATED,
    '# Metrics',
    'What the figures of the dashboard, of the routes and of the regression guard mean. Programs read the same at `GET /api/metric-definitions`.',
    'Windows end now and include their start. A rate, mean or median of nothing is null, a count or sum of nothing 0. Percentages have one decimal, USD four. Times of pull requests and of the opening of issues are those of the host.',
    ...METRIC_GROUPS.flatMap(section),
    '',
  ].join('\n\n');

function section(group: MetricGroup): string[] {
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

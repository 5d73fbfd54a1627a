import { type MetricDefinition as Definition, METRIC_GROUPS, METRIC_UNITS } from '@pipeline/domain';
import { z } from 'zod';
import { UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Dashboard metric definitions. */
const MetricDefinition = z
  .object({
    id: z.string().meta({ example: 'cycle_time' }),
    group: z.enum(METRIC_GROUPS),
    label: z.string().meta({ example: 'Cycle Time' }),
    unit: z.enum(METRIC_UNITS).nullable().meta({ description: 'Null for a definition without a numeric value.' }),
    window: z.string().meta({ description: 'Time window of the metric.', example: '7 d or 30 d' }),
    formula: z.string().meta({ description: 'Definition in words, for tooltips.' }),
    source: z.string().meta({ description: 'Endpoint or field that returns the metric.' }),
  })
  .meta({ id: 'MetricDefinition', description: 'Definition of a dashboard metric.' });

const wire: (definition: Definition) => z.input<typeof MetricDefinition> = (definition) => definition;
void wire;

const listMetricDefinitions = route({
  id: 'listMetricDefinitions',
  method: 'get',
  path: '/api/metric-definitions',
  summary: 'List metric definitions',
  description:
    'Returns the registry of metric definitions used by tooltips, documentation and calculations. It changes only with releases.',
  tags: ['Observability'],
  auth: 'operator',
  needsStore: false,
  replies: { 200: { description: 'All definitions, ordered by group.', body: UnpaginatedResponse(MetricDefinition) } },
});

export const metricDefinitionRoutes = [listMetricDefinitions] as const;

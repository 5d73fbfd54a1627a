import { type Definition, METRIC_GROUPS, METRIC_UNITS } from '@pipeline/domain';
import { z } from 'zod';
import { UnpaginatedResponse } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

/** interface: Dashboard metric definitions. */
export const MetricDefinition = z
  .object({
    id: z.string().meta({ example: 'cycle_time' }),
    group: z.enum(METRIC_GROUPS),
    label: z.string().meta({ example: 'Cycle Time' }),
    unit: z.enum(METRIC_UNITS).nullable().meta({ description: 'null for a word or a rule that is no figure.' }),
    window: z.string().meta({ description: 'The time that it looks at.', example: '7 d or 30 d' }),
    formula: z.string().meta({ description: 'In words, for tooltips.' }),
    source: z.string().meta({ description: 'Where it is served.' }),
  })
  .meta({ id: 'MetricDefinition', description: 'What a figure of the dashboard means.' });

const wire: (definition: Definition) => z.input<typeof MetricDefinition> = (definition) => definition;
void wire;

const listMetricDefinitions = route({
  id: 'listMetricDefinitions',
  method: 'get',
  path: '/api/metric-definitions',
  summary: 'List what every figure means',
  description:
    'The one registry that tooltips, documents and the figures themselves go by. It changes with releases only.',
  tags: ['Observability'],
  auth: 'operator',
  needsStore: false,
  replies: { 200: { description: 'All definitions, by group.', body: UnpaginatedResponse(MetricDefinition) } },
});

export const metricDefinitionRoutes = [listMetricDefinitions] as const;

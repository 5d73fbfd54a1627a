import type { metricDefinitionRoutes } from '@pipeline/contract';
import { METRIC_REGISTRY } from '@pipeline/domain';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof metricDefinitionRoutes, Authentication>;

const items = METRIC_REGISTRY.map(({ id, group, label, unit, window, formula, source }) => ({
  id,
  group,
  label,
  unit,
  window,
  formula,
  source,
}));

/** interface: Dashboard metric definitions. */
export const metricDefinitionHandlers = (): Handlers => ({
  listMetricDefinitions: () => ({ status: 200, body: { items, snapshot: true } }),
});

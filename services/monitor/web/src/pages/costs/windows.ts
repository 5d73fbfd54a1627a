import type { Reply } from '../../api/types.ts';

/** Windows of spending, with their fields in the cost summary. */
export const WINDOWS = [
  { id: '24h', label: '24 hours', field: 'last24hUsd', unreported: 'last24hUnreportedCosts' },
  { id: '7d', label: '7 days', field: 'last7dUsd', unreported: 'last7dUnreportedCosts' },
  { id: '30d', label: '30 days', field: 'last30dUsd', unreported: 'last30dUnreportedCosts' },
  { id: 'lifetime', label: 'All time', field: 'lifetimeUsd', unreported: 'lifetimeUnreportedCosts' },
] as const satisfies readonly {
  id: Reply<'costByModel'>['window'];
  label: string;
  field: keyof Reply<'pipelineCostSummary'>['byRepo'][number];
  unreported: keyof Reply<'pipelineCostSummary'>['byRepo'][number];
}[];

export type Window = (typeof WINDOWS)[number]['id'];

export const windowOf = (id: Window): (typeof WINDOWS)[number] => WINDOWS.find((each) => each.id === id) ?? WINDOWS[1];

import type { Term } from './definition.ts';

const strategy = { group: 'Strategy', unit: null, window: '-' } as const;

export const STRATEGY_TERMS: readonly Term[] = [
  {
    ...strategy,
    id: 'max_auto_size',
    label: 'max_auto_size',
    formula: 'the largest size (small, medium, large, epic) that is applied without operator approval',
    source: 'GET /api/strategy/{owner}/{repo}/charter, charter.envelope.max_auto_size',
  },
  {
    ...strategy,
    id: 'snapshot_lifecycle',
    label: 'Snapshot lifecycle',
    formula: 'proposed, approved, active, superseded',
    source: 'GET /api/strategy/{owner}/{repo}/snapshots, items[].status',
  },
  {
    ...strategy,
    id: 'weekly_proposals',
    label: 'Automatic weekly proposals',
    formula: 'when enabled, one proposal is queued per ISO week for repos with an active charter',
    source: 'GET /api/strategy/{owner}/{repo}/automation',
  },
];

import type { PageEntry } from '@pipeline/web/navigation/page-entry.ts';

/** The pages of the navigation, in its order. */
export const PAGES: readonly PageEntry[] = [
  { path: '/', title: 'Overview', glyph: 'overview', group: '' },
  { path: '/issues', title: 'Issues', glyph: 'issues', group: '' },
  { path: '/repositories', title: 'Repositories', glyph: 'tracks', group: '' },
  { path: '/costs', title: 'Costs', glyph: 'cost', group: '' },
  { path: '/members', title: 'Members', glyph: 'workers', group: 'Access' },
  { path: '/connections', title: 'Connections', glyph: 'chain', group: 'Access' },
  { path: '/sessions', title: 'Sessions', glyph: 'user', group: 'Access' },
];

import type { PageEntry } from '@pipeline/web/navigation/page-entry.ts';

/** The pages of the navigation, in its order. */
export const PAGES: readonly PageEntry[] = [
  { path: '/', title: 'Overview', glyph: 'overview', key: 'o', group: '' },
  { path: '/issues', title: 'Issues', glyph: 'issues', key: 'i', group: '' },
  { path: '/queue', title: 'Queue', glyph: 'queue', key: 'q', group: '' },
  { path: '/workers', title: 'Workers', glyph: 'workers', key: 'w', group: '' },
  { path: '/trouble/blocked', title: 'Blocked', glyph: 'blocked', key: 'b', group: 'Trouble' },
  { path: '/trouble/dead-letters', title: 'Dead letters', glyph: 'envelope', key: 'd', group: 'Trouble' },
  { path: '/trouble/consistency', title: 'Consistency', glyph: 'consistency', group: 'Trouble' },
  { path: '/trouble/writes', title: 'Host writes', glyph: 'writes', group: 'Trouble' },
  { path: '/trouble/regressions', title: 'Regressions', glyph: 'trend', group: 'Trouble' },
  { path: '/knowledge/findings', title: 'Findings', glyph: 'finding', group: 'Knowledge' },
  { path: '/knowledge/items', title: 'Intelligence', glyph: 'knowledge', group: 'Knowledge' },
  { path: '/knowledge/retrieve', title: 'Retrieval', glyph: 'retrieve', group: 'Knowledge' },
  { path: '/digest', title: 'Digest', glyph: 'digest', group: 'Steering' },
  { path: '/costs', title: 'Costs', glyph: 'cost', key: 'c', group: 'Steering' },
  { path: '/agents', title: 'Agents', glyph: 'merge', group: 'Steering' },
  { path: '/steering/tracks', title: 'Tracks', glyph: 'tracks', key: 't', group: 'Steering' },
  { path: '/steering/strategy', title: 'Strategy', glyph: 'strategy', key: 's', group: 'Steering' },
  { path: '/system/logs', title: 'Logs', glyph: 'logs', key: 'l', group: 'System' },
  { path: '/system/events', title: 'Events', glyph: 'events', group: 'System' },
  { path: '/system/audit', title: 'Audit', glyph: 'audit', group: 'System' },
  { path: '/system/config', title: 'Configuration', glyph: 'config', group: 'System' },
  { path: '/system/api', title: 'API', glyph: 'api', group: 'System' },
];

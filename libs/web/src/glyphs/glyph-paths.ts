/** Paths of the glyphs in a box of 16 by 16. `stroke` paths are lines of width 1.5, `fill` paths are areas. */
export interface GlyphShape {
  stroke?: string;
  fill?: string;
}

const DISC = 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2Z';

export const GLYPHS = {
  // States
  outline: { stroke: DISC },
  quarter: { stroke: DISC, fill: 'M8 8V2a6 6 0 0 1 6 6Z' },
  half: { stroke: DISC, fill: 'M8 2a6 6 0 0 1 0 12Z' },
  'three-quarters': { stroke: DISC, fill: 'M8 8V2a6 6 0 1 1-6 6Z' },
  eye: {
    stroke: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8Z',
    fill: 'M8 5.8a2.2 2.2 0 1 1 0 4.4 2.2 2.2 0 0 1 0-4.4Z',
  },
  return: { stroke: 'M6 3 2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 7H7' },
  merge: {
    stroke: 'M4.5 5v6M4.5 5c0 3 3 4 5.5 4',
    fill: 'M4.5 1.6a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Zm0 9.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Zm7-3.6a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Z',
  },
  branch: {
    stroke: 'M4.5 5v6M11.5 5c0 3-2.5 3.5-7 4.5',
    fill: 'M4.5 1.6a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Zm0 9.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Zm7-9.2a1.8 1.8 0 1 1 0 3.6 1.8 1.8 0 0 1 0-3.6Z',
  },
  chain: {
    stroke: 'M6.8 9.2 9.2 6.8M7.5 4.5l1.7-1.7a2.8 2.8 0 0 1 4 4l-1.7 1.7M8.5 11.5l-1.7 1.7a2.8 2.8 0 0 1-4-4l1.7-1.7',
  },
  failure: { stroke: 'M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4ZM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4' },
  question: { stroke: `${DISC}M6.2 6.4A1.9 1.9 0 1 1 8 8.6v.7`, fill: 'M8 10.4a.9.9 0 1 1 0 1.8.9.9 0 0 1 0-1.8Z' },
  hand: {
    stroke:
      'M4.5 8.5V4.2a1 1 0 0 1 2 0V7m0-.5V2.8a1 1 0 0 1 2 0v3.7m0-.2V3.4a1 1 0 0 1 2 0v3.4m0-1a1 1 0 0 1 2 0v4.7c0 2.3-1.6 4-4 4-2 0-3-.8-3.8-2.1L2.6 9.6c-.5-.9.7-1.7 1.4-.9l.5.6',
  },
  tick: { stroke: `${DISC}M5.2 8.2l2 2 3.6-4.2` },
  // Flags
  pause: { fill: 'M4.5 3h2.5v10H4.5ZM9 3h2.5v10H9Z' },
  forced: { stroke: 'M3 4l4 4-4 4M8.5 4l4 4-4 4' },
  // Pages and controls
  overview: { stroke: 'M2 2.5h5v5H2ZM9 2.5h5v3H9ZM9 8h5v5.5H9ZM2 10h5v3.5H2Z' },
  issues: { stroke: 'M2 4h12M2 8h12M2 12h8' },
  queue: { stroke: 'M3 3h10v3H3ZM3 8h10M3 11h10M3 14h6' },
  workers: { stroke: 'M3 5.5h10v7H3ZM8 5.5V2.5M5.5 8.5v1.5M10.5 8.5v1.5' },
  blocked: { stroke: `${DISC}M3.8 3.8l8.4 8.4` },
  envelope: { stroke: 'M2 4h12v8.5H2ZM2 4.5l6 4.5 6-4.5' },
  consistency: { stroke: 'M2 5.5h9.5L9 3M14 10.5H4.5L7 13' },
  writes: { stroke: 'M8 11V2.5M4.8 5.5 8 2.3l3.2 3.2M2.5 10v3.5h11V10' },
  trend: { stroke: 'M2 4l4 4 3-2 5 6M14 8v4h-4' },
  digest: { stroke: 'M3.5 2h9v12h-9ZM6 5.5h4M6 8h4M6 10.5h2.5' },
  cost: {
    stroke: `${DISC}M10 5.6C9.4 5 8.8 4.8 8 4.8c-1.1 0-1.9.6-1.9 1.5 0 2.2 3.9 1.2 3.9 3.4 0 1-.900 1.6-2 1.6-.9 0-1.6-.3-2.1-.9M8 3.6v8.8`,
  },
  finding: { stroke: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.3 14 14' },
  knowledge: {
    stroke: 'M8 4C6.5 2.8 4.5 2.5 2 2.5v10c2.5 0 4.5.3 6 1.5 1.5-1.2 3.5-1.5 6-1.5v-10c-2.5 0-4.5.3-6 1.5ZM8 4v10',
  },
  retrieve: { stroke: 'M2 3h12l-4.5 5.5V13l-3-1.5v-3Z' },
  tracks: { stroke: 'M3 12.5c5 0 2-9 10-9M10.5 1.5l2.5 2-2.5 2' },
  strategy: { stroke: 'M3 14V2M3 2.5h9l-2 3 2 3H3' },
  logs: { stroke: 'M2 3h12v10H2ZM4.5 6l2 2-2 2M8.5 10h3' },
  events: { stroke: 'M1.5 8h3l2-5 3 10 2-5h3' },
  audit: { stroke: 'M8 1.8 13.5 4v4c0 3-2.3 5.2-5.5 6.2C4.8 13.2 2.5 11 2.5 8V4ZM5.5 7.8l1.8 1.8 3.2-3.6' },
  config: { stroke: 'M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M10 2.5v4M6 9.5v4' },
  api: { stroke: 'M5 4 1.5 8 5 12M11 4l3.5 4L11 12M9 3 7 13' },
  more: {
    fill: 'M3 6.7a1.3 1.3 0 1 1 0 2.6 1.3 1.3 0 0 1 0-2.6Zm5 0a1.3 1.3 0 1 1 0 2.6 1.3 1.3 0 0 1 0-2.6Zm5 0a1.3 1.3 0 1 1 0 2.6 1.3 1.3 0 0 1 0-2.6Z',
  },
  search: { stroke: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9ZM10.3 10.3 14 14' },
  reload: { stroke: 'M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 1.5v3h-3' },
  table: { stroke: 'M2 3h12v10H2ZM2 6.5h12M6.5 6.5V13' },
  info: { stroke: `${DISC}M8 7.2v4`, fill: 'M8 4a.9.9 0 1 1 0 1.8A.9.9 0 0 1 8 4Z' },
  close: { stroke: 'M3.5 3.5l9 9M12.5 3.5l-9 9' },
  copy: { stroke: 'M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3' },
  down: { stroke: 'M3.5 6 8 10.5 12.5 6' },
  up: { stroke: 'M3.5 10 8 5.5l4.5 4.5' },
  right: { stroke: 'M6 3.5 10.5 8 6 12.5' },
  external: { stroke: 'M6.5 3H3v10h10V9.5M9 2.5h4.5V7M13.5 2.5 7.5 8.5' },
  user: { stroke: 'M8 2.2a2.9 2.9 0 1 1 0 5.8 2.9 2.9 0 0 1 0-5.8ZM2.5 14c.4-3 2.5-4.5 5.5-4.5s5.1 1.5 5.5 4.5' },
  view: {
    stroke:
      'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13',
  },
  warning: { stroke: 'M8 2.2 14.5 13.5H1.5ZM8 6.5v3.5', fill: 'M8 11a.8.8 0 1 1 0 1.6.8.8 0 0 1 0-1.6Z' },
} as const satisfies Readonly<Record<string, GlyphShape>>;

export type GlyphName = keyof typeof GLYPHS;

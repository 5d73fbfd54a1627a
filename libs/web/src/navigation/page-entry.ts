import type { GlyphName } from '../glyphs/glyph-paths.ts';

/** A page of the navigation. */
export interface PageEntry {
  path: string;
  title: string;
  glyph: GlyphName;
  /** Second key of the shortcut that begins with `g`. */
  key?: string;
  /** Heading that it is listed under; empty = none. */
  group: string;
}

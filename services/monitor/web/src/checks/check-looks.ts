import type { GlyphName } from '@pipeline/web/glyphs/glyph-paths.ts';

type CheckState = 'failure' | 'pending' | 'success';

/** Looks of the results of a check, worst first. */
export const CHECK_LOOKS: Readonly<Record<CheckState, { glyph: GlyphName; colour: string; word: string }>> = {
  failure: { glyph: 'failure', colour: '--danger', word: 'failed' },
  pending: { glyph: 'half', colour: '--warning', word: 'runs' },
  success: { glyph: 'tick', colour: '--good', word: 'passed' },
};

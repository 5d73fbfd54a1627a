import { z } from 'zod';
import { isStorable } from '../text/storable.ts';
import { SLATE_SIZES } from '../tracks/slate.ts';

const Term = z
  .string()
  .max(200)
  .refine((text) => text.trim() !== '', 'must not be blank')
  .refine(isStorable, 'must not contain NUL or unpaired surrogates');
const Terms = z.array(Term).max(100);

/**
 * Limits of strategy. The three lists name subjects of changes: a track, its label, a field, the size or theme of an
 * entry of its slate, a KPI, or the type, category or severity of findings. Case, spaces, `_` and `-` are ignored.
 */
export const CharterEnvelope = z.strictObject({
  /** The largest size that is applied without an operator. */
  max_auto_size: z.enum(SLATE_SIZES),
  /** To be increased where there is a choice. */
  prefer: Terms,
  /** Never to be increased: a snapshot that increases it cannot be applied. */
  avoid: Terms,
  /** Changes that need an operator. */
  escalate_when: Terms,
});
export type CharterEnvelope = z.infer<typeof CharterEnvelope>;

/** Goals and limits of a repo's self-improvement. Each version replaces the previous one. */
export interface StrategyCharter {
  version: number;
  goals: string;
  envelope: CharterEnvelope;
  author: string;
  created_at: string;
}

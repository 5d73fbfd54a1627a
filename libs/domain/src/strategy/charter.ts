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
 * How far strategy may go. The three lists name what changes are about: a track, its label, a field, the size or theme
 * of an entry of its slate, a KPI, or the type, category or severity of findings. Case, spaces, `_` and `-` make no
 * difference.
 */
export const CharterEnvelope = z.strictObject({
  /** The largest size that is applied without an operator. */
  max_auto_size: z.enum(SLATE_SIZES),
  /** More of this, where there is a choice. */
  prefer: Terms,
  /** No more of this: a snapshot that asks for more of it cannot be applied. */
  avoid: Terms,
  /** Changes about this wait for an operator. */
  escalate_when: Terms,
});
export type CharterEnvelope = z.infer<typeof CharterEnvelope>;

/** What a repo's self-improvement is for, and how far it may go. Each version replaces the one before. */
export interface StrategyCharter {
  version: number;
  goals: string;
  envelope: CharterEnvelope;
  author: string;
  created_at: string;
}

import { z } from 'zod';
import { isOutputLabel } from '../labels.ts';
import { isStorable } from '../text/storable.ts';

/** Size of an issue's work, from least to most. */
export const SLATE_SIZES = ['small', 'medium', 'large', 'epic'] as const;
export type SlateSize = (typeof SLATE_SIZES)[number];

const text = (max: number) =>
  z.string().min(1).max(max).refine(isStorable, 'must not contain NUL or unpaired surrogates');

/** The host's limit for label names. */
export const LABEL_LENGTH = 50;
export const OWN_LABEL = 'must not be a state label of the pipeline';

const SlateEntry = z.strictObject(
  {
    size: z.enum(SLATE_SIZES).meta({ description: 'Size of each issue.', example: 'small' }),
    count: z.int().min(1).max(50).meta({ description: 'Number of issues that a run creates.', example: 2 }),
    theme: text(200).optional().meta({ description: 'Theme of the issues.', example: 'flaky tests' }),
    label: text(LABEL_LENGTH)
      .refine((name) => !isOutputLabel(name), OWN_LABEL)
      .optional()
      .meta({ description: 'Label added to the issues in addition to the label of the track.', example: 'tests' }),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? `knows no ${keys?.join(', ')}, but size, count, theme, label` : undefined,
  },
);

/** The issues of a track's run, in the order in which slots are filled. */
export const Slate = z
  .array(SlateEntry)
  .min(1, 'must have an entry; null clears it')
  .max(10)
  .meta({ id: 'TrackSlate', description: 'The issues that a run of the track makes, the most wanted first.' });
export type Slate = z.infer<typeof Slate>;

/** The slate of a track without its own: one small issue. */
export const DEFAULT_SLATE: Slate = [{ size: 'small', count: 1 }];

/** Number of issues of a slate. */
export const slateTotal = (slate: Slate): number => slate.reduce((sum, { count }) => sum + count, 0);

/** One issue of a run. `part` of `of`: among equal ones, counted from 1. */
export interface Seed {
  size: SlateSize;
  theme: string | null;
  label: string | null;
  part: number;
  of: number;
}

/** The first issues of a slate that fit into this many slots. */
export function seedsOf(slate: Slate, places: number): Seed[] {
  const seeds: Seed[] = [];
  for (const { size, count, theme = null, label = null } of slate) {
    const of = Math.min(count, places - seeds.length);
    for (let part = 1; part <= of; part += 1) seeds.push({ size, theme, label, part, of });
  }
  return seeds;
}

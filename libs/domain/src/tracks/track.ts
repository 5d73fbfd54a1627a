import { z } from 'zod';
import { isOutputLabel } from '../labels.ts';
import { isStorable } from '../text/storable.ts';
import { MINUTE_MS } from '../windows.ts';

/** Size of an issue's work, from least to most. */
export const SLATE_SIZES = ['small', 'medium', 'large', 'epic'] as const;
export type SlateSize = (typeof SLATE_SIZES)[number];

const text = (max: number) =>
  z.string().min(1).max(max).refine(isStorable, 'must not contain NUL or unpaired surrogates');

/** The host's limit for label names. */
const LABEL_LENGTH = 50;
const OWN_LABEL = 'must not be a state label of the pipeline';

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

const storable = (max: number) => z.string().max(max).refine(isStorable, 'must not contain NUL or unpaired surrogates');

/** Name of a track as it stands in a path segment. */
export const TrackName = storable(100).regex(
  /^(?!\s*$)[^/\p{Cc}]+$/u,
  'must be 1 to 100 characters that are not all blank, without slash or control characters',
);

/** The largest number of minutes that the store accepts. */
const MAX_MINUTES = 2_147_483_647;

export const CooldownMinutes = z.int().min(1).max(MAX_MINUTES);

export const Weight = z.number().min(0).max(1_000_000);

/** Cadence of a track: it runs again once its cooldown has elapsed, or on a schedule in UTC. */
export const Cadence = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('cooldown') }),
  z.object({
    kind: z.literal('cron'),
    expr: z.string().min(1).max(200).meta({
      description: 'Minute, hour, day of month, month, day of week, in UTC.',
      example: '0 3 * * 1',
    }),
  }),
]);
export type Cadence = z.infer<typeof Cadence>;

/** The settings of a track, with the field names of the wire. */
export const TrackSettings = z.object({
  label: storable(LABEL_LENGTH).refine((name) => !isOutputLabel(name), OWN_LABEL),
  cooldown_minutes: CooldownMinutes,
  enabled: z.boolean(),
  proposal: Slate.nullable(),
  cadence: Cadence,
  weight: Weight,
});
export type TrackSettings = z.infer<typeof TrackSettings>;
export type TrackField = keyof TrackSettings;

/** Changed fields; absent ones stay. */
export const TrackChange = TrackSettings.partial();
export type TrackChange = z.infer<typeof TrackChange>;

/** Times of the last and next run of a track; ISO 8601. */
export interface TrackTimes {
  cadence: Cadence;
  cooldown_minutes: number;
  enabled: boolean;
  /** Start of the cadence for a track without a run under it. */
  schedule_since: string;
  last_run_at: string | null;
  next_run_at: string | null;
}

/**
 * Returns whether a track is late (metric SI Tracks): with a cooldown when more than that has passed since its last
 * run, or its creation; with a schedule once a scheduled time has passed without the run. A disabled track is never
 * late.
 */
export function isOverdue(track: TrackTimes, now: Date): boolean {
  if (!track.enabled) return false;
  if (track.cadence.kind === 'cron') return track.next_run_at !== null && now.getTime() > Date.parse(track.next_run_at);
  const since = Date.parse(track.last_run_at ?? track.schedule_since);
  return now.getTime() - since > track.cooldown_minutes * MINUTE_MS;
}

import { SLATE_SIZES, type SlateSize } from '../tracks/slate.ts';

export const isLarger = (size: SlateSize, than: SlateSize): boolean =>
  SLATE_SIZES.indexOf(size) > SLATE_SIZES.indexOf(than);

/** The largest of some sizes; `small` where there are none. */
export const largestOf = (sizes: readonly SlateSize[]): SlateSize =>
  SLATE_SIZES.findLast((size) => sizes.includes(size)) ?? 'small';

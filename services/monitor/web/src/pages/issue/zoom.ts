import type { Field } from '@pipeline/web/address/fields.ts';
import type { Span } from './timeline-scale.ts';

/** The part of a timeline that is shown, as `from-to` in epoch milliseconds; null = all of it. */
export const spanField: Field<Span | null> = {
  fallback: null,
  parse: (text) => {
    const [, from = '', to = ''] = /^(\d{1,15})-(\d{1,15})$/.exec(text) ?? [];
    return Number(from) < Number(to) ? { from: Number(from), to: Number(to) } : undefined;
  },
  format: (span) => (span === null ? '' : `${Math.round(span.from)}-${Math.round(span.to)}`),
};

type Scale = (time: number) => number;

/** Returns a scale on which the part fills the width; times outside of it are at an end. */
export function zoomedScale(scale: Scale, part: Span | null): Scale {
  if (part === null) return scale;
  const from = scale(part.from);
  const width = Math.max(Number.EPSILON, scale(part.to) - from);
  return (time) => Math.min(1, Math.max(0, (scale(time) - from) / width));
}

const STEPS = 50;

/** Returns the time at a place of a scale, 0 to 1, by bisection: scales rise with time. */
export function timeAt(scale: Scale, { from, to }: Span, place: number): number {
  let low = from;
  let high = to;
  for (let step = 0; step < STEPS; step += 1) {
    const middle = (low + high) / 2;
    if (scale(middle) < place) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the middle half of a span. */
export const middleOf = ({ from, to }: Span): Span => ({ from: from + (to - from) / 4, to: to - (to - from) / 4 });

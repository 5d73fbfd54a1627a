import type { Preferences } from '../preferences/preferences.ts';

export type Zone = Preferences['zone'];

const optionsOf = (zone: Zone): Intl.DateTimeFormatOptions => (zone === 'utc' ? { timeZone: 'UTC' } : {});
const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: Zone, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${name}`;
  let known = formats.get(key);
  if (!known) {
    known = new Intl.DateTimeFormat('en-GB', { ...options, ...optionsOf(zone) });
    formats.set(key, known);
  }
  return known;
}

/** Returns the name of the zone, such as `UTC` or `GMT+1`. */
export function zoneName(zone: Zone, at: number): string {
  if (zone === 'utc') return 'UTC';
  const parts = format(zone, 'zone', { timeZoneName: 'short' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** `10:42:07` */
export const formatClock = (at: number, zone: Zone): string =>
  format(zone, 'clock', { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at);

/** `10:42` */
export const formatHourMinute = (at: number, zone: Zone): string =>
  format(zone, 'minute', { hour: '2-digit', minute: '2-digit' }).format(at);

/** `22 Nov 10:42` */
export const formatShort = (at: number, zone: Zone): string =>
  format(zone, 'short', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' })
    .format(at)
    .replace(',', '');

/** `22 Nov 10:42:07`, for lists of what happened. */
export const formatSecond = (at: number, zone: Zone): string =>
  format(zone, 'second', { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', second: '2-digit' })
    .format(at)
    .replace(',', '');

/** `22 Nov 2026, 10:42:07 UTC`: whole, with its zone. */
export const formatFull = (at: number, zone: Zone): string => {
  const text = format(zone, 'full', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).format(at);
  return `${text} ${zoneName(zone, at)}`;
};

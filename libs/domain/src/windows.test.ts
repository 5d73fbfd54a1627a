import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  DAY_MS,
  isoWeek,
  isSince,
  isWindow,
  parseDuration,
  parseSince,
  parseSinceExactly,
  parseTimestamp,
  previousRange,
  sinceStart,
  utcDate,
  utcMidnight,
  WINDOWS,
  windowMs,
  windowRange,
} from './windows.ts';

const now = new Date('2026-03-04T05:06:07.890Z');
const times = fc.date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('2200-01-01') });

describe('windows', () => {
  test('the windows are the six of the contract, with their lengths', () => {
    expect(WINDOWS.map((window) => windowMs(window) / 3_600_000)).toEqual([1, 6, 12, 24, 48, 168]);
    expect(isWindow('24h')).toBe(true);
    expect(isWindow('30d')).toBe(false);
    expect(isSince('today')).toBe(true);
    expect(isSince('yesterday')).toBe(false);
  });

  test('end now, and the preceding one has the same length and ends where this one begins', () => {
    const range = windowRange('7d', now);
    const before = previousRange(range);
    expect(range).toEqual({ start: new Date('2026-02-25T05:06:07.890Z'), end: now });
    expect(before.end).toEqual(range.start);
    expect(before.end.getTime() - before.start.getTime()).toBe(windowMs('7d'));
  });

  test('begin at midnight UTC for today, and at the given distance for other since values', () => {
    expect(sinceStart('today', now).toISOString()).toBe('2026-03-04T00:00:00.000Z');
    expect(sinceStart('6h', now).toISOString()).toBe('2026-03-03T23:06:07.890Z');
  });
});

describe('relative durations', () => {
  test.each([
    ['5s', 5_000],
    ['30m', 1_800_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
    ['0s', 0],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '5', 's', '-5s', '1.5h', '1w', '5 s', '1h30m', '1H', '9999999d', '٣d'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

describe('a since value of the logs', () => {
  test('a value is a duration before now, or a timestamp, in UTC when it names no zone', () => {
    expect(parseSince('1h', now)?.toISOString()).toBe('2026-03-04T04:06:07.890Z');
    expect(parseSince('2026-03-01', now)?.toISOString()).toBe('2026-03-01T00:00:00.000Z');
    expect(parseSince('2026-03-01T02:00:00+02:00', now)?.toISOString()).toBe('2026-03-01T00:00:00.000Z');
    expect(parseSince('2026-03-01T02:00:00', now)?.toISOString()).toBe('2026-03-01T02:00:00.000Z');
    expect(parseSince('2026-03-01t02:00:00z', now)?.toISOString()).toBe('2026-03-01T02:00:00.000Z');
  });

  test('a timestamp without a zone is UTC', () => {
    expect(parseSince('2026-03-01T02:00:00', now)?.toISOString()).toBe('2026-03-01T02:00:00.000Z');
    expect(parseSince('2026-03-01T02:00:00.25', now)?.toISOString()).toBe('2026-03-01T02:00:00.250Z');
    expect(parseSince('2026-03-01T02:00', now)?.toISOString()).toBe('2026-03-01T02:00:00.000Z');
  });

  test.each([
    ['2026-03-01T02:00:00.123456Z', '2026-03-01T02:00:00.123456Z'],
    ['2026-03-01T02:00:00.123456789+02:00', '2026-03-01T00:00:00.123456Z'],
    ['2026-03-01T02:00:00.1234', '2026-03-01T02:00:00.123400Z'],
    ['2026-03-01T02:00:00.9999999Z', '2026-03-01T02:00:00.999999Z'],
    ['2026-03-01', '2026-03-01T00:00:00.000000Z'],
    ['1h', '2026-03-04T04:06:07.890000Z'],
  ])('keeps the microseconds of %s', (text, exact) => {
    expect(parseSinceExactly(text, now)).toBe(exact);
  });

  test('a time before 1970 is clamped to 1970, so that the store can represent it', () => {
    expect(parseSince('999999d', now)).toEqual(new Date(0));
    expect(parseSince('0000-01-01T00:00:00+23:59', now)).toEqual(new Date(0));
    expect(parseSince('9999-12-31T23:59:59-23:59', now)?.toISOString()).toBe('9999-12-31T23:59:59.999Z');
  });

  test.each([
    '2026-13-01',
    '2026-03-01T02:00:00+2',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    'yesterday',
    '1',
    'March 1, 2026',
    '',
  ])('%j is none', (text) => {
    expect(parseSince(text, now)).toBeNull();
    expect(parseSinceExactly(text, now)).toBeNull();
  });

  test('accepts every timestamp that the service writes', () => {
    fc.assert(fc.property(times, (at) => parseSince(at.toISOString(), now)?.getTime() === at.getTime()));
  });
});

describe('an RFC 3339 date-time', () => {
  test.each([
    ['2026-03-01T02:00:00Z', '2026-03-01T02:00:00.000Z'],
    ['2026-03-01T02:00:00.123456+00:00', '2026-03-01T02:00:00.123Z'],
    ['2026-03-01T02:00:00-05:30', '2026-03-01T07:30:00.000Z'],
    ['2026-03-01t02:00:00z', '2026-03-01T02:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s in UTC', (text, utc) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(utc);
  });

  test.each([
    '2026-03-01T02:00:00',
    '2026-03-01',
    '1h',
    '2026-02-30T00:00:00Z',
    '2026-03-01T02:00:00+24:00',
    '1969-12-31T23:59:59Z',
    '0000-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-00:01',
    `2026-03-01T02:00:00.${'1'.repeat(60)}Z`,
  ])('%j is none', (text) => {
    expect(parseTimestamp(text)).toBeNull();
  });
});

describe('days and weeks are those of UTC', () => {
  test('midnight is at most a day back and on the same date', () => {
    fc.assert(
      fc.property(times, (at) => {
        const midnight = utcMidnight(at);
        expect(midnight.toISOString()).toBe(`${utcDate(at)}T00:00:00.000Z`);
        expect(at.getTime() - midnight.getTime()).toBeLessThan(DAY_MS);
      }),
    );
  });

  test.each([
    ['2026-01-01', '2026-W01'],
    ['2025-12-29', '2026-W01'],
    ['2027-01-03', '2026-W53'],
    ['2027-01-04', '2027-W01'],
    ['2021-01-03', '2020-W53'],
    ['2026-03-04T23:59:59.999Z', '2026-W10'],
  ])('%s lies in %s', (date, week) => {
    expect(isoWeek(new Date(date))).toBe(week);
  });

  test('a week has seven days and begins on Monday', () => {
    fc.assert(
      fc.property(times, (at) => {
        const next = new Date(at.getTime() + DAY_MS);
        expect(isoWeek(next) === isoWeek(at)).toBe(next.getUTCDay() !== 1);
        expect(isoWeek(new Date(at.getTime() + 7 * DAY_MS)) > isoWeek(at)).toBe(true);
      }),
    );
  });
});

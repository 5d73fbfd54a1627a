import { describe, expect, test } from '@jest/globals';
import { isOverdue, type TrackTimes } from '@pipeline/domain';
import fc from 'fast-check';
import { nextRunOf } from './cadence.ts';

const MINUTE = 60_000;
const iso = (ms: number) => new Date(ms).toISOString();
const instants = fc.integer({ min: Date.parse('2020-01-01'), max: Date.parse('2040-01-01') });

const cooldown = (minutes: number, over: Partial<TrackTimes> = {}): TrackTimes => ({
  cadence: { kind: 'cooldown' },
  cooldown_minutes: minutes,
  enabled: true,
  schedule_since: '2026-01-01T00:00:00.000Z',
  last_run_at: null,
  next_run_at: null,
  ...over,
});
const cron = (expr: string, over: Partial<TrackTimes> = {}): TrackTimes =>
  cooldown(60, { cadence: { kind: 'cron', expr }, ...over });

describe('a cooldown', () => {
  test('ends that many minutes after the last run; a track that never ran is due immediately', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 1, max: 500_000 }), (last, minutes) => {
        expect(nextRunOf(cooldown(minutes, { last_run_at: iso(last) }))?.getTime()).toBe(last + minutes * MINUTE);
      }),
    );
    expect(nextRunOf(cooldown(60))?.toISOString()).toBe('2026-01-01T00:00:00.000Z');
  });

  test('a track is overdue from the moment after the end of its cooldown', () => {
    const track = cooldown(60, { last_run_at: '2026-01-02T00:00:00.000Z' });
    expect(isOverdue(track, new Date('2026-01-02T01:00:00.000Z'))).toBe(false);
    expect(isOverdue(track, new Date('2026-01-02T01:00:00.001Z'))).toBe(true);
    expect(isOverdue({ ...track, enabled: false }, new Date('2027-01-01'))).toBe(false);
  });
});

describe('a schedule', () => {
  const fields = {
    minute: fc.integer({ min: 0, max: 59 }),
    hour: fc.integer({ min: 0, max: 23 }),
    weekday: fc.option(fc.integer({ min: 0, max: 6 })),
  };
  type Fields = { minute: number; hour: number; weekday: number | null };
  const exprOf = ({ minute, hour, weekday }: Fields) => `${minute} ${hour} * * ${weekday ?? '*'}`;

  /** Day by day, by the calendar of UTC. */
  function naive({ minute, hour, weekday }: Fields, after: number): number {
    const day = new Date(after);
    for (let n = 0; n < 9; n += 1) {
      const at = Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate() + n, hour, minute);
      if (at > after && (weekday === null || new Date(at).getUTCDay() === weekday)) return at;
    }
    throw new Error('none within nine days');
  }

  test('a track is due at its first time after the last run, in UTC, also when local clocks change', () => {
    fc.assert(
      fc.property(fc.record(fields), instants, (of, last) => {
        const track = cron(exprOf(of), { schedule_since: iso(0), last_run_at: iso(last) });
        expect(nextRunOf(track)?.getTime()).toBe(naive(of, last));
      }),
    );
  });

  test.each([
    ['2026-03-28T02:30:00.000Z', '2026-03-29T02:30:00.000Z'],
    ['2026-03-29T02:30:00.000Z', '2026-03-30T02:30:00.000Z'],
    ['2026-10-24T02:30:00.000Z', '2026-10-25T02:30:00.000Z'],
    ['2026-10-25T02:30:00.000Z', '2026-10-26T02:30:00.000Z'],
  ])('a schedule at 02:30 is due once a day when local clocks change: after %s', (last, next) => {
    expect(nextRunOf(cron('30 2 * * *', { last_run_at: last }))?.toISOString()).toBe(next);
  });

  test('ignores times before it was set, and runs missed times once', () => {
    const track = cron('0 3 * * *', {
      last_run_at: '2026-01-01T03:00:00.000Z',
      schedule_since: '2026-02-01T12:00:00.000Z',
    });
    expect(nextRunOf(track)?.toISOString()).toBe('2026-02-02T03:00:00.000Z');
    expect(nextRunOf({ ...track, last_run_at: '2026-03-01T12:34:00.000Z' })?.toISOString()).toBe(
      '2026-03-02T03:00:00.000Z',
    );
  });

  test('a track is overdue once a time has passed, with any cooldown', () => {
    const track = cron('0 3 * * *', {
      last_run_at: '2026-01-01T03:00:00.000Z',
      next_run_at: '2026-01-02T03:00:00.000Z',
    });
    expect(isOverdue(track, new Date('2026-01-02T03:00:00.000Z'))).toBe(false);
    expect(isOverdue(track, new Date('2026-01-02T03:00:00.001Z'))).toBe(true);
  });
});

test('a disabled track has no next run', () => {
  for (const track of [cooldown(5), cron('* * * * *')]) expect(nextRunOf({ ...track, enabled: false })).toBeNull();
});

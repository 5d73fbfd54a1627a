import { describe, expect, test } from '@jest/globals';
import { etaMinutes, floorStatusOf, presentStatus, type WorkerCondition, workerAlertOf } from './status.ts';

const AT = '2026-03-01T00:00:00.000Z';
const LATER = '2026-03-01T00:10:00.000Z';
const well: WorkerCondition = { status: 'idle', silentSince: null, stalledSince: null, claim: null };
const fine = { stuckSince: null };

test('a drain takes precedence over busy', () => {
  expect(presentStatus({ draining: true, busy: true })).toBe('draining');
  expect(presentStatus({ draining: false, busy: true })).toBe('busy');
  expect(presentStatus({ draining: false, busy: false })).toBe('idle');
});

describe('on the floor', () => {
  test.each<[string, Partial<WorkerCondition>, string, object | null]>([
    ['nothing to do', {}, 'idle', null],
    ['at work', { status: 'busy', claim: fine }, 'running', null],
    ['draining with a task', { status: 'draining', claim: fine }, 'draining', null],
    ['draining without one', { status: 'draining' }, 'draining', null],
    ['silent', { silentSince: AT }, 'offline', { reason: 'silent', since: AT }],
    ['gone', { status: 'offline', silentSince: AT }, 'offline', { reason: 'silent', since: AT }],
    ['silent with a task', { silentSince: AT, claim: fine }, 'stalled', { reason: 'silent', since: AT }],
    ['without progress', { claim: { stuckSince: AT } }, 'stalled', { reason: 'stalled', since: AT }],
    [
      'without progress, draining',
      { status: 'draining', claim: { stuckSince: AT } },
      'stalled',
      { reason: 'stalled', since: AT },
    ],
    ['not letting go of a lost task', { stalledSince: AT }, 'stalled', { reason: 'stalled', since: AT }],
    ['stalled, then silent', { stalledSince: AT, silentSince: LATER }, 'offline', { reason: 'silent', since: LATER }],
  ])('%s', (_name, condition, status, alert) => {
    expect([floorStatusOf({ ...well, ...condition }), workerAlertOf({ ...well, ...condition })]).toEqual([
      status,
      alert,
    ]);
  });
});

test('the estimate is never negative, and null with four samples', () => {
  expect(etaMinutes({ medianMs: 600_000, samples: 5 }, 90_000)).toBe(8.5);
  expect(etaMinutes({ medianMs: 600_000, samples: 5 }, 900_000)).toBe(0);
  expect(etaMinutes({ medianMs: 600_000, samples: 4 }, 0)).toBeNull();
  expect(etaMinutes(undefined, 0)).toBeNull();
});

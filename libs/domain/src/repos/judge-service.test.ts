import { expect, test } from '@jest/globals';
import { TASK_TYPES } from '../task-types.ts';
import { needsAction, unknownCheck } from './doctor.ts';
import { judgeBudget, judgeClock, judgeDatabase, judgeDisk, judgeLastDelivery, judgeWorkers } from './judge-service.ts';

test.each([
  [170_002, [], 'ok', 'PostgreSQL 17.2, schema 0040'],
  [150_000, [], 'ok', 'PostgreSQL 15.0'],
  [140_009, [], 'error', 'Upgrade to PostgreSQL 15'],
  [170_002, ['0099-new'], 'warning', 'newer release (0099-new)'],
] as const)(
  'reports a database of version %i with the unknown migrations %j as %s',
  (version, unknown, status, text) => {
    const facts = { serverVersion: version, migration: '0040', unknownMigrations: [...unknown] };
    expect(judgeDatabase(facts)).toMatchObject({ check: 'database', status, message: expect.stringContaining(text) });
  },
);

test.each([
  [0, 0, 'ok', 'agrees'],
  [-5_400, 500, 'ok', 'agrees'],
  [6_000, 500, 'warning', '6 s ahead of'],
  [-29_000, 0, 'warning', '29 s behind'],
  [90_000, 1_000, 'error', 'NTP'],
])('reports a skew of %i ms known to %i ms as %s', (skewMs, precisionMs, status, text) => {
  const found = judgeClock('host-clock', { skewMs, precisionMs });
  expect(found).toMatchObject({ status, message: expect.stringContaining(text) });
});

test.each([
  [null, null, 'warning', 'costLimits.dailyUsd'],
  [20, null, 'ok', '20 USD per day'],
  [0, 5, 'ok', '0 USD per day and organisation, 5 USD per issue'],
])('reports the limits %s a day and %s an issue as %s', (dailyUsd, perIssueUsd, status, text) => {
  expect(judgeBudget({ dailyUsd, perIssueUsd })).toMatchObject({ status, message: expect.stringContaining(text) });
});

const GIB = 1024 ** 3;
test.each([
  [50, 100, 'ok'],
  [5, 100, 'warning'],
  [4, 8, 'warning'],
  [0.5, 2, 'error'],
  [10, 1_000, 'error'],
  [0, 0, 'error'],
])('reports %d of %d GiB free as %s', (free, total, status) => {
  expect(judgeDisk({ path: '/data', free: free * GIB, total: total * GIB }).status).toBe(status);
});

test('names the task types without a worker, and is an error when work tasks are among them', () => {
  const all = Object.fromEntries(TASK_TYPES.map((type) => [type, 2]));
  expect(judgeWorkers(all)).toMatchObject({ status: 'ok', message: expect.stringContaining('merge 2') });
  expect(judgeWorkers({ ...all, retrospect: 0 })).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('no worker is online for retrospect.'),
  });
  expect(judgeWorkers({ ...all, develop: 0 }).status).toBe('error');
  expect(judgeWorkers({})).toMatchObject({ status: 'error', message: expect.stringContaining('any task type') });
});

test.each([
  [null, 'warning', 'noticed by polls only'],
  [12, 'ok', '12 s ago'],
  [1_800, 'ok', '30 min ago'],
  [7_200, 'ok', '2 h ago'],
  [864_000, 'ok', '10 days ago'],
])('reports a last delivery of %s seconds ago as %s', (age, status, text) => {
  expect(judgeLastDelivery(age)).toMatchObject({ status, message: expect.stringContaining(text) });
});

test('asks for an action on warnings and errors only', () => {
  const found = (['ok', 'warning', 'error', 'unknown'] as const).filter((status) =>
    needsAction({ ...unknownCheck('disk', ''), status }),
  );
  expect(found).toEqual(['warning', 'error']);
});

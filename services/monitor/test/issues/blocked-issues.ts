import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readBlockedIssues } from '@pipeline/engine';
import { sql } from 'kysely';
import { PolledValue } from '../../src/polling/polled-value.ts';
import type { BlockedIssueDeps } from '../../src/routes/issues/blocked-issues.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveApp, serveConnected } from '../support/served-app.ts';
import { database } from './database.ts';

describe('blocked issues', () => {
  const POLLED = '2026-05-06T07:08:09.000Z';

  let bench: Bench;
  let blocked: BlockedIssueDeps['blocked'];
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    bench = await makeBench(database.store, 'Acme/Shop');
    for (const number of [1, 2, 3, 4, 5, 6]) await admit(bench, number);
  });
  beforeEach(async () => {
    await close?.();
    blocked = new PolledValue(
      () => readBlockedIssues(database.store),
      () => new Date(POLLED),
    );
    ({ call, close } = await serveConnected({ engine: bench.engine, blocked }));
  });
  afterAll(() => close());

  const block = (number: number, state: string, minutes: number, error: string | null) =>
    sql`
    update issues set state = ${state}, is_blocked = true, block_reason = 'test_failure', last_error = ${error},
      state_entered_at = ${POLLED}::timestamptz - make_interval(mins => ${minutes})
    where issue_number = ${number}`.execute(database.db);
  const list = async () => (await call('GET', '/api/blocked-issues')).json as unknown;

  describe('list', () => {
    test('before the first poll it is empty and says that it was never read', async () => {
      await block(1, 'failure-blocked', 10, null);
      expect(await list()).toEqual({ issues: [], patterns: [], total: 0, polledAt: null });
    });

    test('blocked issues, those that stand longest first; errors that differ in numbers and names are one pattern', async () => {
      await block(1, 'failure-blocked', 10, 'tests failed: 3 of 21 in /src/a.ts');
      await block(2, 'failure-blocked', 30, 'tests failed: 7 of 30 in /src/deep/b.ts');
      await block(3, 'failure-blocked', 20, 'a lone error');
      await block(4, 'dependency-blocked', 5, null);
      // Done, though the flag was left on it.
      await block(5, 'done', 50, 'a lone error');
      await blocked.refresh();
      const entry = { owner: 'Acme', repo: 'Shop', blockReason: 'test_failure' };
      const failed = { ...entry, state: 'failure-blocked' };
      const pattern = 'tests failed: <n> of <n> in <path>';
      expect(await list()).toEqual({
        issues: [
          {
            ...failed,
            issueNumber: 2,
            title: 'Issue 2',
            blockedSince: '2026-05-06T06:38:09.000Z',
            lastError: 'tests failed: 7 of 30 in /src/deep/b.ts',
            errorPattern: pattern,
          },
          {
            ...failed,
            issueNumber: 3,
            title: 'Issue 3',
            blockedSince: '2026-05-06T06:48:09.000Z',
            lastError: 'a lone error',
            errorPattern: 'a lone error',
          },
          {
            ...failed,
            issueNumber: 1,
            title: 'Issue 1',
            blockedSince: '2026-05-06T06:58:09.000Z',
            lastError: 'tests failed: 3 of 21 in /src/a.ts',
            errorPattern: pattern,
          },
          {
            ...entry,
            state: 'dependency-blocked',
            issueNumber: 4,
            title: 'Issue 4',
            blockedSince: '2026-05-06T07:03:09.000Z',
            lastError: null,
            errorPattern: null,
          },
        ],
        patterns: [
          {
            pattern,
            count: 2,
            issues: [
              { owner: 'Acme', repo: 'Shop', issueNumber: 2 },
              { owner: 'Acme', repo: 'Shop', issueNumber: 1 },
            ],
          },
          { pattern: 'a lone error', count: 1, issues: [{ owner: 'Acme', repo: 'Shop', issueNumber: 3 }] },
        ],
        total: 4,
        polledAt: POLLED,
      });
    });

    test('answers from memory', async () => {
      await blocked.refresh();
      const before = await list();
      await block(6, 'failure-blocked', 1, null);
      expect(await list()).toEqual(before);
    });

    test('answers 503 without a store', async () => {
      const bare = await serveApp();
      const { json } = await bare.call('GET', '/api/blocked-issues');
      await bare.close();
      expect(json).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
    });
  });

  describe('a polled value', () => {
    test('a read that was overtaken is thrown away', async () => {
      const ends: ((n: number) => void)[] = [];
      const value = new PolledValue(
        () => new Promise<number>((resolve) => ends.push(resolve)),
        () => new Date(POLLED),
      );
      const both = [value.refresh(), value.refresh()];
      ends[1]?.(2);
      await both[1];
      ends[0]?.(1);
      await both[0];
      expect(value.last).toEqual({ value: 2, polledAt: POLLED });
    });
  });

  afterAll(() => database.clear());
});

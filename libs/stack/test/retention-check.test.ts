import { describe, expect, test } from '@jest/globals';
import { copyStatement, expressionOf, type Shift } from '../e2e/retention/fill.ts';
import { episodesOf, waitsIn } from '../e2e/retention/locks.ts';
import { expectedMonths } from '../e2e/retention/retained.ts';
import { linesOf, perMillion } from '../e2e/retention/sizes.ts';
import { LONGEST_WAIT_MS, leftRows, longLocks, longWaits, lostRows, wrongMonths } from '../e2e/retention/verdict.ts';

const MIB = 1024 * 1024;

describe('expressionOf', () => {
  const shift: Shift = { copy: 3, idStride: 1_000, numberStride: 50, seconds: 60 };
  const value = (name: string, type: string) => expressionOf({ name, type }, shift);

  test('moves times and makes ids and numbers distinct', () => {
    expect(value('created_at', 'timestamp with time zone')).toBe("t.created_at - interval '60 s'");
    expect([value('id', 'bigint'), value('run_id', 'bigint')]).toEqual(['t.id + 3000', 't.run_id + 3000']);
    expect(value('issue_number', 'integer')).toBe('t.issue_number + 150');
    expect(value('claim_token_hash', 'text')).toBe("t.claim_token_hash || '-3'");
    expect(value('task_id', 'uuid')).toContain("placing '00000003'");
  });

  test('keeps tenants, repos and other values', () => {
    for (const [name, type] of [
      ['tenant_id', 'bigint'],
      ['repo_id', 'bigint'],
      ['worker_id', 'text'],
      ['cost_usd', 'numeric'],
    ] as const)
      expect(value(name, type)).toBe(`t.${name}`);
  });

  test('the expression replaces each column of a statement', () => {
    const columns = [
      { name: 'tenant_id', type: 'bigint' },
      { name: 'id', type: 'bigint' },
    ];
    expect(copyStatement('runs', columns, { shift, since: 'true' })).toBe(
      'insert into pipeline.runs (tenant_id, id) select t.tenant_id, t.id + 3000 from template.runs t where true',
    );
  });
});

describe('expectedMonths', () => {
  test('returns the months from the oldest kept day to those ahead, across the turn of the year', () => {
    expect(expectedMonths(new Date('2026-11-26T12:00:00Z'), 30, 3)).toEqual([
      ...['2026-10', '2026-11', '2026-12', '2027-01', '2027-02'],
    ]);
    expect(expectedMonths(new Date('2026-11-26T12:00:00Z'), 400, 0)).toHaveLength(14);
  });
});

describe('episodesOf', () => {
  const lock = (granted: boolean) => ({ pid: 7, table: 'events', granted });

  test('returns how long a lock was waited for and held', () => {
    const samples = [
      { at: 0, locks: [] },
      { at: 10, locks: [lock(false)] },
      { at: 20, locks: [lock(true)] },
      { at: 30, locks: [lock(true)] },
      { at: 40, locks: [] },
    ];
    expect(episodesOf(samples)).toEqual([{ pid: 7, table: 'events', waitedMs: 10, heldMs: 20 }]);
  });

  test('returns two episodes when the lock was free between them, and one that has not ended', () => {
    const samples = [true, false, true].map((held, at) => ({ at, locks: held ? [lock(true)] : [] }));
    expect(episodesOf(samples)).toHaveLength(2);
  });
});

test('reads waits for tables and cancelled statements from the log of the server', () => {
  const log = [
    '~~monitor:fleet~~LOG:  process 12 still waiting for AccessExclusiveLock on relation 17 of database 5 after 50.1 ms',
    '\tDetail of it.',
    '~~hosted-api:requests~~LOG:  process 13 acquired RowExclusiveLock on relation 17 of database 5 after 2123.456 ms',
    '~~hosted-api:requests~~LOG:  process 13 acquired ShareLock on transaction 991 after 70.000 ms',
    '~~monitor:fleet~~ERROR:  canceling statement due to lock timeout',
    '',
  ].join('\n');
  expect(waitsIn(log)).toEqual({
    waits: [{ application: 'hosted-api:requests', ms: 2123.456 }],
    cancelled: ['monitor:fleet: canceling statement due to lock timeout'],
  });
});

describe('perMillion', () => {
  const sizes = [
    { table: 'runs', rows: 2_000, heapBytes: 60 * MIB, indexBytes: 40 * MIB },
    { table: 'tenants', rows: 3, heapBytes: MIB, indexBytes: MIB },
    { table: 'users', rows: 7, heapBytes: MIB, indexBytes: 0 },
  ];
  const rows = perMillion(sizes, (table) => (table === 'runs' ? 8 : null));

  test('returns the size of a million issues by the rows of an issue', () => {
    expect(rows[0]).toMatchObject({
      table: 'runs',
      rowsPerIssue: 8,
      bytesPerRow: 52_428.8,
      mibPerMillionIssues: 400_000,
    });
  });

  test('sums up small tables in one line', () => {
    expect(rows.slice(1)).toMatchObject([{ table: '2 others', rows: 10, heapMib: 2, indexMib: 1, rowsPerIssue: 0 }]);
    expect(linesOf(rows).at(-1)).toBe('sum: 62 MiB heap, 41 MiB index; 400000 MiB per million issues');
  });
});

describe('verdict', () => {
  const found = (rows: number, sum: string) => [{ what: 'runs', rows, sum }];

  test('returns a line when rows that are kept are not the same', () => {
    expect(lostRows(found(3, '6'), found(3, '6'))).toEqual([]);
    expect(lostRows(found(3, '6'), found(3, '7'))).toEqual(['runs: 3 rows (6) before, 3 (7) after']);
    expect(lostRows(found(3, '6'), [])).toHaveLength(1);
  });

  test('returns a line when due rows are left', () => {
    expect(leftRows([...found(0, '0'), ...found(2, '3')])).toEqual(['runs: 2 rows are left']);
  });

  test('returns a line when a lock lasted longer than the bound', () => {
    const lock = (heldMs: number) => ({ pid: 1, table: 'events', waitedMs: 2_000, heldMs });
    expect(longLocks([lock(LONGEST_WAIT_MS - 2_000)])).toEqual([]);
    expect(longLocks([lock(LONGEST_WAIT_MS - 1_999)])).toHaveLength(1);
    expect(longWaits([{ application: 'hosted-api', ms: LONGEST_WAIT_MS }])).toEqual([]);
    expect(longWaits([{ application: 'hosted-api', ms: LONGEST_WAIT_MS + 1 }])).toHaveLength(1);
  });

  test('returns missing months and those that should be gone', () => {
    expect(wrongMonths('events', ['2026-01', '2026-02'], ['2026-02', '2026-03'])).toEqual([
      'events has no partition for 2026-03',
      'events still has a partition for 2026-01',
    ]);
  });
});

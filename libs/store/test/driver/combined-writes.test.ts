import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Tx } from '../../src/driver/database.ts';
import { type Params, prepared, preparedWrite } from '../../src/driver/prepared.ts';
import { inTransaction, isUniqueViolation } from '../../src/index.ts';

const sent: string[] = [];
const database = testDatabase();
const store = () => database.open({ onStatement: (text) => void sent.push(text) });

type N = Params<{ n: number }>;

// Temporary tables with names of the store's, which is how the tables of a statement are found.
const write = {
  addTask: preparedWrite<{ n: number }>(
    'test-add-task',
    (_db, p: N) => sql`insert into tasks (n) values (${p('n')}::int)`,
  ),
  raiseTasks: preparedWrite<{ n: number }>(
    'test-raise-tasks',
    (_db, p: N) => sql`update tasks set n = (n * 2 + ${p('n')}::int) % 97`,
  ),
  dropRuns: preparedWrite<{ n: number }>(
    'test-drop-runs',
    (_db, p: N) => sql`delete from runs where n % 3 = ${p('n')}::int % 3`,
  ),
  runsOfTasks: preparedWrite<{ n: number }>(
    'test-runs-of-tasks',
    (_db, p: N) => sql`insert into runs (n) select (n + ${p('n')}::int) % 97 from tasks order by n limit 5`,
  ),
  issuesOfRuns: preparedWrite<{ n: number }>('test-issues-of-runs', (_db, p: N) => ({
    ctes: {
      test_gone: sql`delete from issues where n = ${p('n')}::int returning n`,
      test_total: sql`select coalesce(sum(n), 0) as n from runs`,
    },
    main: sql`insert into issues (n)
      select ((select n from test_total) + (select count(*) from test_gone) + ${p('n')}::int) % 97`,
  })),
};

const read = {
  tasks: prepared('test-tasks', () => sql<{ n: number }>`select n from tasks order by n`),
  runs: prepared('test-runs', () => sql<{ n: number }>`select n from runs order by n`),
  issues: prepared('test-issues', () => sql<{ n: number }>`select n from issues order by n`),
};

/** Statements that read, or change rows with a result. */
const query = {
  ...read,
  raisedTasks: prepared('test-raised-tasks', () => sql<{ n: number }>`update tasks set n = (n + 41) % 97 returning n`),
};

type Step = { write: keyof typeof write; n: number } | { query: keyof typeof query } | 'turn';

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: fc.constantFrom(...keysOf(write)), n: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ query: fc.constantFrom(...keysOf(query)) }) },
  { weight: 1, arbitrary: fc.constant('turn' as const) },
);

function keysOf<T extends object>(object: T): (keyof T)[] {
  return Object.keys(object) as (keyof T)[];
}

async function makeTables(tx: Tx): Promise<void> {
  for (const table of keysOf(read)) {
    await sql`create temp table ${sql.table(table)} (n integer) on commit drop`.execute(tx);
  }
}

function issue(tx: Tx, step: Step): Promise<unknown> {
  if (step === 'turn') return sql`select 1`.execute(tx);
  return 'query' in step ? query[step.query].all(tx, {}) : write[step.write].run(tx, { n: step.n });
}

/** The results of the steps, and all rows at the end. */
function outcomeOf(steps: readonly Step[], db: ReturnType<typeof store>, oneByOne: boolean): Promise<unknown> {
  return inTransaction(db.db, async (tx) => {
    await makeTables(tx);
    const results: Promise<unknown>[] = [];
    for (const step of steps) {
      const running = issue(tx, step);
      results.push(step === 'turn' ? Promise.resolve() : running);
      if (oneByOne || step === 'turn') await running;
    }
    const rows = keysOf(read).map((table) => read[table].all(tx, {}));
    return Promise.all([...results, ...rows]);
  });
}

test('any statements of one turn have the effects and results of the same statements one by one', async () => {
  const db = store();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      expect(await outcomeOf(steps, db, false)).toEqual(await outcomeOf(steps, db, true));
    }),
    { numRuns: 150 },
  );
  await db.close();
});

test('independent writes of one turn are one statement, and a read of another table goes before it', async () => {
  const db = store();
  await inTransaction(db.db, async (tx) => {
    await makeTables(tx);
    sent.length = 0;
    await Promise.all([
      write.addTask.run(tx, { n: 1 }),
      write.dropRuns.run(tx, { n: 2 }),
      read.issues.all(tx, {}),
      write.issuesOfRuns.run(tx, { n: 3 }),
    ]);
  });
  // The third write reads the runs that the second deletes; the first goes with either.
  expect(sent.map((text) => text.replaceAll(/\/\*prepared:writes-\w+\*\/ |\*\/.*/gs, ''))).toEqual([
    '/*prepared:test-issues',
    '/*prepared:test-drop-runs',
    '/* test-add-task test-issues-of-runs ',
    'commit',
  ]);
  await db.close();
});

test('a combined write that fails rolls everything back with its own error', async () => {
  const db = store();
  const failed = inTransaction(db.db, async (tx, send) => {
    await makeTables(tx);
    await sql`create unique index on tasks (n)`.execute(tx);
    send(write.addTask.run(tx, { n: 1 }));
    send(write.dropRuns.run(tx, { n: 1 }));
    send(write.addTask.run(tx, { n: 1 }));
    await read.tasks.all(tx, {});
  });
  expect(isUniqueViolation(await failed.catch((error: unknown) => error))).toBe(true);
  await db.close();
});

test('a write issued in the turn in which the transaction fails is not run after the rollback', async () => {
  const db = store();
  const failed = inTransaction(db.db, async (tx, send) => {
    await makeTables(tx);
    sent.length = 0;
    send(write.addTask.run(tx, { n: 1 }));
    throw new Error('changed its mind');
  });
  await expect(failed).rejects.toThrow('changed its mind');
  await db.ping();
  expect(sent.map((text) => text.slice(0, 8))).toEqual(['/*prepar', 'rollback', 'select 1']);
  await db.close();
});

test('refuses a write without a table, and a name of a CTE that is taken', async () => {
  const { db } = database.store;
  const nothing = preparedWrite('test-nothing', () => sql`select 1`);
  await expect(nothing.run(db, {})).rejects.toThrow('test-nothing writes no table');
  const [first, second] = ['test-first', 'test-second'].map((name) =>
    preparedWrite(name, (db, p: Params<{ tenantId: number }>) => ({
      ctes: { test_taken: db.deleteFrom('runs').where('tenant_id', '=', p('tenantId')) },
      main: db.deleteFrom('tasks').where('tenant_id', '=', p('tenantId')),
    })),
  );
  await first?.run(db, { tenantId: 1 });
  await expect(second?.run(db, { tenantId: 1 })).rejects.toThrow('another write has a CTE named test_taken');
});

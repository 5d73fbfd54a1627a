import { expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import fc from 'fast-check';
import { sql } from 'kysely';
import type { Tx } from '../../src/driver/database.ts';
import { mergedWrite, type Params, prepared, preparedPatch, preparedWrite } from '../../src/driver/prepared.ts';
import { inTransaction } from '../../src/index.ts';

const sent: string[] = [];
const database = testDatabase();
const store = () => database.open({ onStatement: (text) => void sent.push(text) });

type N = Params<{ n: number }>;

// Temporary tables with the names of the store's, and of some of their columns.
const patch = {
  addCost: preparedPatch<{ n: number }>('test-add-cost', 'issues', (p: N) => ({
    cost_usd: sql`cost_usd + ${p('n')}::int`,
  })),
  plan: preparedPatch<{ n: number }>('test-plan', 'issues', (p: N) => ({
    plan_version: sql`${p('n')}::int`,
    reached_states: sql`${p('n')}::int * 2`,
  })),
  reach: preparedPatch<{ n: number }>('test-reach', 'issues', (p: N) => ({
    reached_states: sql`plan_version + ${p('n')}::int`,
  })),
  closeRun: preparedPatch<{ n: number }>('test-close', 'runs', (p: N) => ({ attempt: sql`${p('n')}::int` })),
};

const read = {
  issues: prepared(
    'test-patched-issues',
    () => sql<object>`select id, cost_usd, plan_version, reached_states from issues order by id`,
  ),
  runs: prepared('test-patched-runs', () => sql<object>`select id, attempt from runs order by id`),
};

type Step = { patch: keyof typeof patch; n: number; id: number } | { read: keyof typeof read } | 'turn';

const keysOf = <T extends object>(object: T) => Object.keys(object) as (keyof T)[];

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      patch: fc.constantFrom(...keysOf(patch)),
      n: fc.nat(9),
      id: fc.integer({ min: 1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ read: fc.constantFrom(...keysOf(read)) }) },
  { weight: 1, arbitrary: fc.constant('turn' as const) },
);

async function makeTables(tx: Tx): Promise<void> {
  await sql`create temp table issues (tenant_id int, id int, cost_usd numeric, plan_version int, reached_states int)
    on commit drop`.execute(tx);
  await sql`create temp table runs (tenant_id int, id int, attempt int) on commit drop`.execute(tx);
  await sql`create temp table tasks (tenant_id int, id int unique, issue_id int unique) on commit drop`.execute(tx);
  await sql`insert into issues values (1, 1, 0, 0, 0), (1, 2, 0, 0, 0), (2, 1, 0, 0, 0)`.execute(tx);
  await sql`insert into runs values (1, 1, 0), (1, 2, 0)`.execute(tx);
}

/** Rows that are read by the steps, and all rows at the end. */
const outcomeOf = (steps: readonly Step[], db: ReturnType<typeof store>, oneByOne: boolean): Promise<unknown> =>
  inTransaction(db.db, async (tx) => {
    await makeTables(tx);
    const rows: unknown[] = [];
    for (const one of steps) {
      if (one === 'turn') await new Promise(setImmediate);
      else if ('read' in one) rows.push(await read[one.read].all(tx, {}));
      else void patch[one.patch].run(tx, { tenantId: 1, id: one.id, n: one.n });
      if (oneByOne) await sql`select 1`.execute(tx);
    }
    return [...rows, await read.issues.all(tx, {}), await read.runs.all(tx, {})];
  });

test('patches of rows have the effects of the same updates one by one, whatever is read between them', async () => {
  const db = store();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
      expect(await outcomeOf(steps, db, false)).toEqual(await outcomeOf(steps, db, true));
    }),
    { numRuns: 100 },
  );
  await db.close();
});

test('writes a row once when several turns of a transaction change it', async () => {
  const db = store();
  await inTransaction(db.db, async (tx, send) => {
    await makeTables(tx);
    sent.length = 0;
    send(patch.addCost.run(tx, { tenantId: 1, id: 1, n: 3 }));
    await read.runs.all(tx, {});
    send(patch.plan.run(tx, { tenantId: 1, id: 1, n: 4 }));
    await read.runs.all(tx, {});
    send(patch.closeRun.run(tx, { tenantId: 1, id: 1, n: 5 }));
  });
  const [first, second, writes, ...others] = sent;
  expect([first, second]).toEqual([read.runs.sql, read.runs.sql]);
  expect(writes?.match(/update "\w+"/g)).toEqual(['update "issues"', 'update "runs"']);
  expect(others).toEqual(['commit']);
  await db.close();
});

test('sends waiting writes before a statement that locks rows or writes', async () => {
  const db = store();
  const lock = prepared('test-lock-task', () => sql<object>`select id from tasks for update`);
  await inTransaction(db.db, async (tx, send) => {
    await makeTables(tx);
    sent.length = 0;
    send(patch.plan.run(tx, { tenantId: 1, id: 1, n: 4 }));
    await lock.all(tx, {});
  });
  expect(sent.map((text) => /(update "issues"|for update|commit)/.exec(text)?.[1])).toEqual([
    'update "issues"',
    'for update',
    'commit',
  ]);
  await db.close();
});

test('fails the transaction with its own error when a write that waited fails', async () => {
  const db = store();
  const failed = inTransaction(db.db, async (tx, send) => {
    await makeTables(tx);
    await sql`alter table issues add check (plan_version < 5)`.execute(tx);
    send(patch.plan.run(tx, { tenantId: 1, id: 1, n: 7 }));
    await read.runs.all(tx, {});
  });
  await expect(failed).rejects.toThrow('issues_plan_version_check');
  await db.close();
});

test('replaces a row within a unique key when a deletion and an insertion are merged', async () => {
  const end = preparedWrite(
    'test-end',
    (_db, p: Params<{ endedId: number }>) => sql`delete from tasks where id = ${p('endedId')}`,
  );
  const add = preparedWrite(
    'test-add',
    (_db, p: Params<{ id: number }>) => sql`insert into tasks select 1, ${p('id')}::int, 1`,
  );
  mergedWrite(end, add, (_db, p) => ({
    ctes: { test_ended: sql`delete from tasks where id = ${p('endedId')} returning id` },
    main: sql`insert into tasks select 1, ${p('id')}::int, 1 from (select count(*) from test_ended) first`,
  }));
  const db = store();
  const rows = await inTransaction(db.db, async (tx, send) => {
    await makeTables(tx);
    await add.run(tx, { id: 1 });
    await read.runs.all(tx, {});
    sent.length = 0;
    await sql`select 1`.execute(tx);
    send(end.run(tx, { endedId: 1 }));
    send(add.run(tx, { id: 2 }));
    return (await sql`select id from tasks`.execute(tx)).rows;
  });
  expect(rows).toEqual([{ id: 2 }]);
  expect(sent.filter((text) => text.includes('prepared:test-end-test-add'))).toHaveLength(1);
  await db.close();
});

test('refuses a patch whose value reads a table', async () => {
  const reading = preparedPatch('test-reading', 'issues', () => ({ plan: sql`(select id from runs limit 1)` }));
  const run = reading.run(database.store.db, { tenantId: 1, id: 1 });
  await expect(run).rejects.toThrow('patch test-reading: the value of plan reads a table');
});

import { describe, expect, test } from '@jest/globals';
import { handleEach, reclaimExpired, releaseDue } from '@pipeline/engine';
import { LeadershipLostError } from '@pipeline/store';
import { sql } from 'kysely';
import { take } from '../harness.ts';
import { Stage } from '../stage.ts';

describe('rows that are handled one by one', () => {
  const ROWS = [{ id: 1 }, { id: 2 }, { id: 3 }];
  const failAt = (bad: number, error: Error, seen: number[] = []) =>
    handleEach('rows', ROWS, async ({ id }) => {
      seen.push(id);
      if (id === bad) throw error;
      return id;
    });

  test('handles all rows when one fails, and the error names it', async () => {
    const seen: number[] = [];
    const failed = failAt(1, new Error('locked'), seen);
    await expect(failed).rejects.toMatchObject({
      message: 'rows: 1 of 3 failed',
      errors: [expect.objectContaining({ message: 'failed for {"id":1}', cause: new Error('locked') })],
    });
    expect(seen).toEqual([1, 2, 3]);
  });

  test.each([
    ['the leadership is lost', new LeadershipLostError()],
    ['the store is unreachable', Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
  ])('leaves the rows, with the error as it is, when %s', async (_case, error) => {
    const seen: number[] = [];
    await expect(failAt(2, error, seen)).rejects.toBe(error);
    expect(seen).toEqual([1, 2]);
  });

  test('return what each returned', async () => {
    expect(await failAt(0, new Error())).toEqual([1, 2, 3]);
  });
});

describe('a row of the queue that the store refuses to change does not keep others from', () => {
  const bench = new Stage({ issues: 3 });
  const { database } = bench;

  /** @returns the error of the work while any change of the task of the first issue fails. */
  async function errorWhileRefused(work: () => Promise<unknown>): Promise<unknown> {
    const { id } = await bench.issue(1);
    await sql`
      create function refuse_row() returns trigger language plpgsql as $$
        begin raise exception 'bad row'; end $$`.execute(database.db);
    await sql`
      create trigger refuse_row before update on tasks for each row
        when (old.issue_id = ${sql.lit(id)}) execute function refuse_row()`.execute(database.db);
    try {
      return await work().catch(({ message }) => message);
    } finally {
      await sql`drop function refuse_row cascade`.execute(database.db);
    }
  }
  const statuses = async () => (await bench.tasks()).map(({ status, held }) => held ?? status).sort();

  test('the reclaim of expired claims', async () => {
    for (let n = 0; n < 3; n += 1) await take(bench);
    bench.pass(61);
    const error = await errorWhileRefused(() => reclaimExpired(bench.engine));
    expect(await statuses()).toEqual(['claimed', 'pending', 'pending']);
    expect(error).toContain('1 of 3 failed');
  });

  test('the release of tasks after their backoff', async () => {
    await database.db
      .updateTable('tasks')
      .set({ held: 'backoff', run_after: '2026-03-01T00:00:10Z' })
      .where('tenant_id', '=', bench.tenantId)
      .execute();
    bench.pass(11);
    const error = await errorWhileRefused(() => releaseDue(bench.engine));
    expect(await statuses()).toEqual(['backoff', 'pending', 'pending']);
    expect(error).toContain('1 of 3 failed');
  });
});

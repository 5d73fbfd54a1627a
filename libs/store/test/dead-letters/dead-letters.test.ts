import { beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import {
  countOpenDeadLetters,
  ensureTenant,
  findIssue,
  insertDeadLetter,
  insertIssue,
  inTransaction,
  locateDeadLetter,
  lockDeadLetter,
  openDeadLetters,
  resolveDeadLetter,
  type Tx,
  upsertRepo,
} from '../../src/index.ts';
import { aRepo } from '../a-repo.ts';

const database = testDatabase();
let tenantId = 0;
let repoId = 0;
let issueId = 0;

beforeAll(async () => {
  tenantId = await ensureTenant(database.store.db, 'acme');
  await inTransaction(database.store.db, async (tx) => {
    const repo = await upsertRepo(tx, tenantId, aRepo('Acme/Shop'));
    repoId = repo.id;
    const at = '2026-01-01T00:00:00.000Z';
    const issue = { number: 7, title: 't', body: '', url: '', labels: [], author: null, createdAt: at, updatedAt: at };
    await insertIssue(tx, tenantId, repoId, issue);
    issueId = (await findIssue(tx, tenantId, repoId, 7))?.id ?? 0;
  });
});

const within = <T>(work: (tx: Tx) => Promise<T>) => inTransaction(database.store.db, work);
const give = (error: string, at: string) => {
  database.clock.now = new Date(at);
  return within((tx) =>
    insertDeadLetter(tx, tenantId, {
      repoId,
      issueId,
      issueNumber: 7,
      fromState: 'planning',
      targetState: 'done',
      agentName: 'planner',
      error,
      cause: { kind: 'projection', projectionId: 1 },
    }),
  );
};

describe('dead letters', () => {
  test('lists open dead letters newest first, with the repo as the host spells it', async () => {
    const older = await give('older', '2026-02-01T00:00:00.000Z');
    const newer = await give('newer', '2026-02-02T00:00:00.000Z');
    const page = await openDeadLetters(database.store.db, { limit: 10, offset: 0 });
    expect(page.map((deadLetter) => deadLetter.error)).toEqual(['newer', 'older']);
    expect(page[0]).toEqual({
      id: newer,
      repoOwner: 'Acme',
      repoName: 'Shop',
      issueNumber: 7,
      fromState: 'planning',
      targetState: 'done',
      agentName: 'planner',
      error: 'newer',
      createdAt: '2026-02-02T00:00:00.000Z',
    });
    const by = { actor: 'olga', resolution: 'resolved' as const };
    expect(await within((tx) => resolveDeadLetter(tx, tenantId, older, by))).toBe(true);
    expect(await within((tx) => resolveDeadLetter(tx, tenantId, older, by))).toBe(false);
    expect(await countOpenDeadLetters(database.store.db)).toBe(1);
    expect((await within((tx) => lockDeadLetter(tx, tenantId, older)))?.resolved_at).not.toBeNull();
  });

  test('finds a dead letter by its id alone, for routes that have no tenant', async () => {
    const id = await give('find me', '2026-02-03T00:00:00.000Z');
    expect(await locateDeadLetter(database.store.db, id)).toEqual({ tenant_id: tenantId, issue_id: issueId });
  });

  test('resolved dead letters do not slow the list, which reads the partial index without a sort', async () => {
    await sql`
      insert into dead_letters (tenant_id, id, repo_id, issue_id, issue_number, target_state, error, cause, created_at,
        resolved_at)
      select ${tenantId}, gen_random_uuid(), ${repoId}, ${issueId}, 7, 'done', 'old', '{}',
        timestamptz '2025-01-01' + n * interval '1 minute', case when n % 100 > 0 then now() end
      from generate_series(1, 20000) n`.execute(database.db);
    await sql`analyze dead_letters`.execute(database.db);
    const { rows } = await sql<{ 'QUERY PLAN': string }>`
      explain select id from dead_letters where resolved_at is null order by created_at desc, id limit 100`.execute(
      database.db,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('dead_letters_open');
    expect(plan).not.toMatch(/Seq Scan|Sort/);
  });
});

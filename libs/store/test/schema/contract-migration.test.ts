import { expect, test } from '@jest/globals';
import { BUILT_IN_WARN_AFTER_MINUTES, DEFAULT_WORKFLOW } from '@pipeline/domain';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { inTransaction, seedWorkflow } from '../../src/index.ts';
import { MIGRATIONS } from '../../src/schema/migrations/index.ts';
import { makeWorld } from '../consistency-world.ts';

const database = testDatabase();
const migrate = () => MIGRATIONS['0032-limits-assignees-and-evidence']?.up(database.db as never);

test('gives evidence without a kind the kind text and drops fields of a wrong type', async () => {
  const { db } = database;
  const { tenantId, repo } = await makeWorld(database, 'acme/evidence');
  const stored = [
    { foo: 1 },
    { kind: 7, path: 'a.ts', lineStart: '3', lineEnd: 4 },
    { kind: 'file', path: null, lineStart: 3 },
    'words',
  ];
  await sql`
    insert into findings (tenant_id, id, repo_id, agent_name, finding_type, category, severity, title, summary, evidence,
      metadata, blocks_progress, status, fingerprint)
    select ${tenantId}, gen_random_uuid(), ${repo.id}, 'reviewer', 'risk', 'c', 'low', 't', 's', e, '{}', false, 'open', 'f' || n
    from (values (1, ${JSON.stringify(stored)}::jsonb), (2, '[]'::jsonb)) v (n, e)`.execute(db);
  await migrate();
  const { rows } = await sql<{ evidence: unknown }>`select evidence from findings order by fingerprint`.execute(db);
  expect(rows.map(({ evidence }) => evidence)).toEqual([
    [
      { kind: 'text', foo: 1 },
      { kind: 'text', path: 'a.ts', lineEnd: 4 },
      { kind: 'file', lineStart: 3 },
    ],
    [],
  ]);
});

test('removes the limits of a seeded workflow and keeps those that a person stored', async () => {
  const { db, store } = database;
  const { tenantId, repo } = await makeWorld(database, 'acme/shop');
  const seededBefore = {
    ...DEFAULT_WORKFLOW,
    states: DEFAULT_WORKFLOW.states.map((state) => ({
      ...state,
      warnAfterMinutes: BUILT_IN_WARN_AFTER_MINUTES[state.name],
    })),
  };
  await inTransaction(store.tenant, (tx) => seedWorkflow(tx, tenantId, repo.id, seededBefore));
  await sql`
    insert into workflow_snapshots (tenant_id, repo_id, version, active, body, created_by)
    select tenant_id, repo_id, 2, false, body, 'olga' from workflow_snapshots`.execute(db);
  await migrate();
  const { rows } = await sql<{ body: unknown }>`select body from workflow_snapshots order by version`.execute(db);
  expect(rows.map(({ body }) => body)).toEqual([DEFAULT_WORKFLOW, seededBefore]);
});

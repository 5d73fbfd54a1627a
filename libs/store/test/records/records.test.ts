import { beforeEach, expect, test } from '@jest/globals';
import {
  ensureTenant,
  insertIssue,
  insertRecords,
  inTransaction,
  lockIssueByNumber,
  noRecords,
  upsertRepo,
} from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { aRepo } from '../a-repo.ts';

const database = testDatabase();
let round = 0;
let tenantId: number;
let repoId: number;
let issueId: number;

beforeEach(async () => {
  round += 1;
  tenantId = await ensureTenant(database.store.db, `records-${round}`);
  await inTransaction(database.store.db, async (tx) => {
    repoId = (await upsertRepo(tx, tenantId, aRepo('acme/shop'))).id;
    const at = '2026-01-01T00:00:00.000Z';
    const text = { title: 'One', body: '', url: 'http://127.0.0.1/1', author: 'ann' };
    await insertIssue(tx, tenantId, repoId, { ...text, number: 1, labels: [], createdAt: at, updatedAt: at });
    issueId = (await lockIssueByNumber(tx, tenantId, repoId, 1))?.id ?? 0;
  });
});

const rows = (table: 'transitions' | 'issue_events' | 'pipeline_events' | 'stream_outbox') =>
  database.db.selectFrom(table).selectAll().where('tenant_id', '=', tenantId).orderBy('id').execute();
const event = (n: number) => ({
  repoId,
  issueId: n === 0 ? null : issueId,
  issueNumber: n === 0 ? null : 1,
  eventType: `fact_${n}`,
  agent: 'developer',
  payload: { n, nested: { list: [n] } },
});

test('writes the entries of each log in chronological order', async () => {
  const actor = { actorType: 'agent' as const, actorId: 'w1' };
  await inTransaction(database.store.db, (tx) =>
    insertRecords(tx, tenantId, {
      transitions: [
        {
          repoId,
          issueId,
          from: 'new',
          to: 'analyzing',
          trigger: 'admitted',
          forced: false,
          ...actor,
          agent: null,
          reason: null,
          enteredPipelineAt: '2026-01-01T00:00:00.000Z',
          isFirst: true,
          durationMs: 5,
          lateUs: 0,
        },
        {
          repoId,
          issueId,
          from: 'analyzing',
          to: 'planning',
          trigger: 'operator',
          forced: true,
          ...actor,
          agent: 'analyzer',
          reason: 'so',
          enteredPipelineAt: '2026-01-01T00:00:00.000Z',
          isFirst: true,
          durationMs: 6_000_000_000,
          lateUs: 0,
        },
      ],
      issueEvents: [
        { issueId, ...actor, status: 'first', details: null, state: 'analyzing' },
        { issueId, ...actor, status: 'second', details: { why: 'so' }, state: 'planning' },
      ],
      pipelineEvents: [event(0), event(1), event(2)],
      grownCalls: [],
      stream: [
        { type: 'issue-status', data: { n: 1 } },
        { type: 'cost-update', data: { n: 2 } },
      ],
    }),
  );
  expect(await rows('transitions')).toMatchObject([
    {
      repo_id: repoId,
      issue_id: issueId,
      from_state: 'new',
      to_state: 'analyzing',
      forced: false,
      duration_in_from_ms: 5,
    },
    { trigger: 'operator', forced: true, agent: 'analyzer', reason: 'so', duration_in_from_ms: 6_000_000_000 },
  ]);
  expect(await rows('issue_events')).toMatchObject([
    { status: 'first', details: null, state: 'analyzing', actor_id: 'w1' },
    { status: 'second', details: { why: 'so' }, state: 'planning' },
  ]);
  expect(await rows('pipeline_events')).toMatchObject([
    { event_type: 'fact_0', issue_id: null, issue_number: null },
    { event_type: 'fact_1', issue_id: issueId, issue_number: 1, payload: { n: 1, nested: { list: [1] } } },
    { event_type: 'fact_2' },
  ]);
  expect(await rows('stream_outbox')).toMatchObject([
    { data: { n: 1 } },
    { event_type: 'cost-update', data: { n: 2 } },
  ]);
});

test('stores unknown values as SQL null, not as JSON null', async () => {
  const line = {
    issueId,
    actorType: 'system' as const,
    actorId: null,
    status: 'x',
    details: null,
    state: 'new' as const,
  };
  await inTransaction(database.store.db, (tx) => insertRecords(tx, tenantId, { ...noRecords(), issueEvents: [line] }));
  const nulls = await database.db
    .selectFrom('issue_events')
    .select('status')
    .where('tenant_id', '=', tenantId)
    .where('details', 'is', null)
    .where('actor_id', 'is', null)
    .execute();
  expect(nulls).toHaveLength(1);
});

test('sends no statement for a transaction without entries', async () => {
  const seen: string[] = [];
  const store = database.open({ onStatement: (text) => seen.push(text) });
  await inTransaction(store.db, (tx) => insertRecords(tx, tenantId, noRecords()));
  expect(seen.filter((text) => text.includes('insert'))).toEqual([]);
  await store.close();
});

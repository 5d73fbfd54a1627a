import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type Settings } from '@pipeline/domain';
import { fail, type Readings, runDetectors } from '@pipeline/engine';
import { insertDeadLetter, inTransaction, resolveDeadLetter } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { applyHostIssue, type Bench, hostIssue, makeBench, refOf, take } from '../harness.ts';

const database = testDatabase();
const START = Date.parse('2026-03-01T00:00:00Z');
let bench: Bench;
let alerts: Settings['alerts'];
let round = 0;

const at = (minutes: number): void => {
  database.clock.now = new Date(START + minutes * 60_000);
};
const NOTHING: Readings = { driftByRepo: null, limitedMinutes: new Map() };
const look = async (readings: Partial<Readings> = {}, refresh = false) => {
  const engine = { ...bench.engine, settings: () => ({ ...DEFAULT_SETTINGS, alerts }) };
  expect(await runDetectors(engine, { ...NOTHING, ...readings }, { refresh })).toEqual([]);
};
const open = async () => {
  const rows = database.db.selectFrom('alerts').selectAll().where('resolved_at', 'is', null);
  return (await rows.orderBy('fingerprint').execute()).map(({ detector, message, count }) => ({
    detector,
    message,
    count,
  }));
};
const detectors = async () => (await open()).map(({ detector }) => detector);
const slug = () => `detect/shop-${round}`;

beforeEach(async () => {
  round += 1;
  at(0);
  alerts = DEFAULT_SETTINGS.alerts;
  await sql`truncate issues, tasks, runs, alerts, dead_letters, projections, cost_sums, cost_events, workers cascade`.execute(
    database.db,
  );
  await database.db.updateTable('repos').set({ enabled: false }).execute();
  bench = await makeBench(database.store, { slug: slug() });
});

/** The worker of the bench keeps sending heartbeats, so that only the tested problem exists. */
const worker = (change: object) => database.db.updateTable('workers').set(change).execute();
const heard = () => worker({ last_heartbeat_at: database.clock.now?.toISOString() });
/** The host has executed all writes. */
const written = () => database.db.updateTable('projections').set({ status: 'complete' }).execute();

describe('detectors', () => {
  test('find nothing without problems', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await look();
    expect(await open()).toEqual([]);
  });

  test('worker_stalled: a silent worker, until its next request or its leave', async () => {
    at(4);
    await look();
    expect(await open()).toEqual([]);
    at(5);
    await look();
    await look();
    expect(await open()).toEqual([
      { detector: 'worker_stalled', message: 'worker w1 has been silent for 5 min and did not sign off', count: 1 },
    ]);
    await heard();
    await look();
    expect(await open()).toEqual([]);
    at(20);
    await worker({ left_at: '2026-03-01T00:15:00.000Z' });
    await look();
    expect(await open()).toEqual([]);
  });

  test('queue_age: tasks that are not claimed, by repo, without held ones', async () => {
    await applyHostIssue(bench, hostIssue(1));
    await applyHostIssue(bench, hostIssue(2));
    await written();
    at(59);
    await heard();
    await look();
    expect(await open()).toEqual([]);
    at(60);
    await heard();
    await look();
    expect((await open())[0]).toMatchObject({
      detector: 'queue_age',
      message: `2 tasks of ${slug()} are pending, the oldest for 60 min: check that a worker serves them`,
    });
    await database.db.updateTable('tasks').set({ held: 'paused' }).execute();
    await look();
    expect(await open()).toEqual([]);
  });

  describe('no_worker', () => {
    const pending = async () => {
      await applyHostIssue(bench, hostIssue(1));
      await written();
    };
    const raised = () => ({
      detector: 'no_worker',
      message: `no worker takes 1 pending task of ${slug()} (analyze), the oldest for 3 min: start one, or resume a drained one`,
      count: 1,
    });

    test.each([
      ['none is registered', () => database.db.deleteFrom('workers').execute()],
      ['the only one takes other tasks', () => worker({ task_types: ['review'] })],
      ['the only one works on other repos', () => worker({ repos: ['detect/other'] })],
      ['the only one is drained', () => worker({ draining: true })],
      [
        'the only one is of another tenant',
        async () => {
          await database.db.deleteFrom('workers').execute();
          const other = await makeBench(database.store, { slug: `other/shop-${round}` });
          expect(other.tenantId).not.toBe(bench.tenantId);
        },
      ],
    ])('raises the alert after three minutes when %s', async (_when, change) => {
      await pending();
      await change();
      at(2);
      await heard();
      await look();
      expect(await open()).toEqual([]);
      at(3);
      await heard();
      await look();
      expect(await open()).toEqual([raised()]);
    });

    test('raises an alert for a task of an agent that no worker runs, and names it', async () => {
      await pending();
      await database.db.updateTable('tasks').set({ compared_agent: 'codex' }).execute();
      at(3);
      await heard();
      await look();
      expect((await open())[0]?.message).toContain(`1 pending task of ${slug()} (analyze by codex)`);
      await worker({ agents: ['codex'] });
      await look();
      expect(await open()).toEqual([]);
    });

    test('raises no alert while a worker restarts, and ends one with its next heartbeat', async () => {
      await pending();
      at(10);
      await heard();
      await worker({ left_at: database.clock.now?.toISOString(), status: 'offline' });
      at(11);
      await look();
      expect(await open()).toEqual([]);
      at(12);
      await look();
      expect(await detectors()).toEqual(['no_worker']);
      await worker({ left_at: null, status: 'idle' });
      await heard();
      await look();
      expect(await open()).toEqual([]);
    });

    test.each([
      ['held', () => database.db.updateTable('tasks').set({ held: 'paused' }).execute()],
      ['of a disabled repo', () => database.db.updateTable('repos').set({ enabled: false }).execute()],
      [
        'of an unavailable repo',
        () =>
          database.db
            .updateTable('repos')
            .set({ unavailable: 'archived', unavailable_since: '2026-03-01T00:00:00Z' })
            .execute(),
      ],
    ])('raises no alert for tasks that are %s', async (_what, change) => {
      await pending();
      await worker({ task_types: ['review'] });
      await change();
      at(4);
      await heard();
      await look();
      expect(await detectors()).not.toContain('no_worker');
    });
  });

  test('claim_stalled: a task that has been claimed for too long', async () => {
    await applyHostIssue(bench, hostIssue(3));
    await take(bench);
    await written();
    at(120);
    await heard();
    await look();
    expect(await open()).toEqual([
      { detector: 'claim_stalled', message: `analyze of ${slug()}#3 has been claimed for 120 min`, count: 1 },
    ]);
  });

  test('no_progress: an issue without task, dead letterId, pending write or pause', async () => {
    await applyHostIssue(bench, hostIssue(4));
    await database.db.deleteFrom('tasks').execute();
    await written();
    at(14);
    await look();
    // The index contains the hour of its state, not the minute.
    at(60);
    await heard();
    await look();
    expect(await open()).toEqual([
      {
        detector: 'no_progress',
        message: `${slug()}#4 has been in analyzing for 60 min without a task: retry it`,
        count: 1,
      },
    ]);
    const issue = await database.db.selectFrom('issues').select('id').executeTakeFirstOrThrow();
    const deadLetterId = await inTransaction(database.store.db, (tx) =>
      insertDeadLetter(tx, bench.tenantId, {
        repoId: bench.repo.id,
        issueId: issue.id,
        issueNumber: 4,
        fromState: 'analyzing',
        targetState: 'planning',
        agentName: null,
        error: 'no edge',
        cause: { kind: 'projection', projectionId: 1 },
      }),
    );
    await look();
    expect(await detectors()).toEqual([]);
    await inTransaction(database.store.db, (tx) =>
      resolveDeadLetter(tx, bench.tenantId, deadLetterId, { actor: 'olga', resolution: 'resolved' }),
    );
    await look();
    expect(await detectors()).toEqual(['no_progress']);
    await database.db.updateTable('issues').set({ is_paused: true }).execute();
    await look();
    expect(await detectors()).toEqual([]);
  });

  test('failure_loop: one error repeatedly within an hour', async () => {
    for (let n = 1; n <= 5; n += 1) {
      await applyHostIssue(bench, hostIssue(n));
      const task = await take(bench);
      await look();
      expect(await detectors()).toEqual([]);
      const failure = { errorMessage: `cannot reach host-${n}:443`, errorClass: 'unknown', invocations: [] } as const;
      await fail(bench.engine, refOf(bench, task), failure as never);
    }
    await look();
    expect((await open())[0]).toMatchObject({
      detector: 'failure_loop',
      message: expect.stringMatching(/^5 runs of detect\/shop-\d+ failed within an hour with: cannot reach/),
    });
    at(61);
    await heard();
    await look();
    expect(await detectors()).not.toContain('failure_loop');
  });

  test('dead_letter_growth: new dead letters within an hour, resolved or not', async () => {
    await applyHostIssue(bench, hostIssue(1));
    const issue = await database.db.selectFrom('issues').select('id').executeTakeFirstOrThrow();
    for (let n = 1; n <= 5; n += 1) {
      await look();
      expect(await detectors()).toEqual([]);
      await inTransaction(database.store.db, (tx) =>
        insertDeadLetter(tx, bench.tenantId, {
          repoId: bench.repo.id,
          issueId: issue.id,
          issueNumber: 1,
          fromState: null,
          targetState: 'planning',
          agentName: null,
          error: 'no edge',
          cause: { kind: 'projection', projectionId: n },
        }),
      );
    }
    await look();
    expect(await detectors()).toEqual(['dead_letter_growth']);
  });

  test('projection_backlog: a pending host write', async () => {
    await applyHostIssue(bench, hostIssue(1));
    at(15);
    await heard();
    await look();
    expect((await open())[0]).toMatchObject({
      detector: 'projection_backlog',
      message: expect.stringMatching(/^\d+ host writes of detect\/shop-\d+ are pending, the oldest for 15 min$/),
    });
    await written();
    await look();
    expect(await detectors()).toEqual([]);
  });

  test('cost_anomaly: a day far beyond the mean of the week, from a minimum on', async () => {
    const of = { tenant_id: bench.tenantId, repo_id: bench.repo.id, agent: 'developer', model: 'large' };
    const noTokens = { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0 };
    const noCalls = { ...noTokens, provider: 'p', invocations: 0, max_turns: 0, no_progress: 0 };
    const spendBefore = (day: string, usd: number) =>
      database.db
        .insertInto('cost_sums')
        .values({ ...of, ...noCalls, grain: 'day', at: `${day}T00:00:00Z`, usd })
        .execute();
    const spendToday = async (usd: number) => {
      await database.db.deleteFrom('cost_events').execute();
      const call = { run_id: 1, invocation_index: 0, amount_usd: usd, created_at: '2026-03-01T00:00:00Z' };
      await database.db
        .insertInto('cost_events')
        .values({ ...of, ...call })
        .execute();
    };
    for (const day of ['2026-02-23', '2026-02-24']) await spendBefore(day, 14);
    await spendToday(100);
    await look();
    expect(await open()).toEqual([]);
    await spendBefore('2026-02-28', 14);
    await spendToday(18);
    await look();
    expect(await open()).toEqual([]);
    await spendToday(18.01);
    await look();
    expect((await open())[0]).toMatchObject({
      detector: 'cost_anomaly',
      message: '$18.01 spent today, more than 3 times the daily mean of $6.00',
    });
    alerts = { ...alerts, costAnomalyMinUsd: 50 };
    await look();
    expect(await open()).toEqual([]);
  });

  test('label_drift and vcs_rate_limit: from memory; unchanged before the first check', async () => {
    const drift = new Map([[slug(), 10]]);
    await look({ driftByRepo: drift, limitedMinutes: new Map([['github', 7]]) });
    expect(await open()).toEqual([
      {
        detector: 'label_drift',
        message: `10 issues of ${slug()} have labels on the host that differ from their state`,
        count: 1,
      },
      {
        detector: 'vcs_rate_limit',
        message: 'github rejects all requests because of its rate limit for another 7 min',
        count: 1,
      },
    ]);
    await look({ driftByRepo: null, limitedMinutes: new Map([['github', 4]]) });
    expect(await detectors()).toEqual(['label_drift']);
    await look({ driftByRepo: new Map([[slug(), 9]]) });
    expect(await open()).toEqual([]);
  });
});

test('a threshold of null disables a detector, and resolves its alerts', async () => {
  at(5);
  await look();
  expect(await detectors()).toEqual(['worker_stalled']);
  alerts = { ...alerts, workerSilentMinutes: null };
  await look();
  expect(await open()).toEqual([]);
});

test('an open alert is rewritten only to refresh its value', async () => {
  at(5);
  await look();
  at(9);
  await look();
  expect((await open())[0]).toMatchObject({ count: 1, message: expect.stringContaining('5 min') });
  await look({}, true);
  expect((await open())[0]).toMatchObject({ count: 2, message: expect.stringContaining('9 min') });
});

test('a failing detector does not affect the others, and is named', async () => {
  at(5);
  await database.db.schema.alterTable('cost_sums').renameTo('cost_sums_away').execute();
  try {
    const failed = await runDetectors(bench.engine, NOTHING, { refresh: false });
    expect(failed.map(({ detector }) => detector)).toEqual(['cost_anomaly']);
    expect(await detectors()).toEqual(['worker_stalled']);
  } finally {
    await database.db.schema.alterTable('cost_sums_away').renameTo('cost_sums').execute();
  }
});

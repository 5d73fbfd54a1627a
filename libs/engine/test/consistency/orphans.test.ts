import { beforeEach, describe, expect, test } from '@jest/globals';
import type { HostIssue, VcsHost } from '@pipeline/domain';
import { enqueueOrphan, type HostOf, OrphanWatch, pollRepo } from '@pipeline/engine';
import { findIssue } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { applyHostIssue, type Bench, drain, hostIssue, makeBench } from '../harness.ts';

const database = testDatabase();
const OLGA = { type: 'operator' as const, id: 'olga', agent: null };
let bench: Bench;
let run = 0;
/** The host's issues, open and closed. */
let onHost: Map<number, HostIssue>;
let errors: unknown[];

beforeEach(async () => {
  run += 1;
  bench = await makeBench(database.store, { slug: `orph-${run}/shop` });
  onHost = new Map();
  errors = [];
  bench.host.getIssue = async (_repo, number) => onHost.get(number) ?? null;
  bench.host.listIssues = async (_repo, { state }) => ({
    issues: [...onHost.values()].filter((issue) => state === 'all' || issue.state === state),
    changedPullRequests: [],
    etag: null,
  });
  await applyHostIssue(bench, hostIssue(1));
  await drain(bench);
  for (const number of [1, 2, 3]) onHost.set(number, hostIssue(number, { labels: [] }));
  onHost.set(4, hostIssue(4, { state: 'closed' }));
});

const hostOf: HostOf = (repo) => (repo.id === bench.repo.id ? bench.host : null);
const watch = () =>
  new OrphanWatch({ engine: bench.engine, hostOf, onError: (_repo, error) => void errors.push(error) });
const findings = async (of = watch()) => {
  await of.check();
  return of.findings();
};
const numbers = async (of?: OrphanWatch) => (await findings(of)).map((finding) => finding.issueNumber);
const idOf = (number: number) => `orphan_missing_from_pg:orph-${run}/shop#${number}`;
const enqueue = (number: number, via: HostOf = hostOf) => enqueueOrphan(bench.engine, via, idOf(number), OLGA);
const entries = () =>
  database.db
    .selectFrom('projections')
    .selectAll()
    .where('repo_id', '=', bench.repo.id)
    .where('issue_number', '=', 2)
    .orderBy('id')
    .execute();
const events = (eventType: string) =>
  database.db
    .selectFrom('pipeline_events')
    .select(['issue_id', 'issue_number', 'agent', 'payload'])
    .where('repo_id', '=', bench.repo.id)
    .where('event_type', '=', eventType)
    .execute();

describe('orphan_missing_from_pg', () => {
  test('reports an open issue of the host without a record in the pipeline', async () => {
    const [first, ...more] = await findings();
    expect(first).toEqual({
      id: idOf(2),
      kind: 'orphan_missing_from_pg',
      repoOwner: `orph-${run}`,
      repoName: 'shop',
      issueNumber: 2,
      detail: {
        title: 'Issue 2',
        url: 'http://host/2',
        author: 'alice',
        labels: [],
        createdAt: '2026-01-01T00:00:00.000Z',
      },
    });
    expect(more.map((finding) => finding.issueNumber)).toEqual([3]);
  });

  test('uses conditional requests and the cached response of an unchanged host', async () => {
    const asked: (string | undefined)[] = [];
    const open = bench.host.listIssues;
    bench.host.listIssues = async (repo, query) => {
      asked.push(query.etag);
      return query.etag === 'v1' ? null : { ...((await open(repo, query)) ?? fail()), etag: 'v1' };
    };
    const orphans = watch();
    expect(await numbers(orphans)).toEqual([2, 3]);
    await applyHostIssue(bench, hostIssue(2));
    expect((await orphans.findings()).map((finding) => finding.issueNumber)).toEqual([3]);
    expect(await numbers(orphans)).toEqual([3]);
    expect(asked).toEqual([undefined, 'v1']);
  });

  test('reports a host that does not answer, and keeps known findings', async () => {
    const orphans = watch();
    await orphans.check();
    bench.host.listIssues = refuse;
    expect(await numbers(orphans)).toEqual([2, 3]);
    expect(await numbers(watch())).toEqual([]);
    expect(errors).toHaveLength(2);
  });

  test('finds none in a repo without a connected host', async () => {
    expect(await findings(new OrphanWatch({ engine: bench.engine, hostOf: () => null, onError: fail }))).toEqual([]);
  });
});

const refuse: VcsHost['listIssues'] & VcsHost['getIssue'] = async () => {
  throw new Error('socket hang up');
};
const fail = (): never => {
  throw new Error('not expected');
};

describe('enqueue-orphan', () => {
  test('labels the issue through the outbox; the next poll admits it', async () => {
    expect(await enqueue(2)).toBeNull();
    const [entry, ...others] = await entries();
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      issue_id: null,
      lane: 'labels',
      status: 'pending',
      action: { type: 'addLabels', labels: ['svc:enqueue'] },
    });
    expect(bench.bells).toContain('svc_projections');
    expect(await numbers()).toEqual([3]);
    expect(await events('operator_action')).toMatchObject([
      { issue_id: null, issue_number: 2, agent: 'olga', payload: { action: 'enqueue-orphan', actorId: 'olga' } },
    ]);
    bench.bells.length = 0;
    await drain(bench);
    expect(bench.host.executed.at(-1)).toEqual({ issueNumber: 2, type: 'addLabels' });
    expect((await entries())[0]).toMatchObject({ status: 'complete', attempts: 1 });
    expect(bench.bells).toContain('svc_cache');
    expect(await numbers()).toEqual([3]);
    onHost.set(2, hostIssue(2));
    await pollRepo({ engine: bench.engine, repo: bench.repo, host: bench.host }, () => new Date());
    expect(await findIssue(database.db, bench.tenantId, bench.repo.id, 2)).toMatchObject({ state: 'analyzing' });
  });

  test('requests the label once when repeated or concurrent', async () => {
    expect(await Promise.all([1, 2, 3, 4].map(() => enqueue(2)))).toEqual([null, null, null, null]);
    await drain(bench);
    expect(await enqueue(2)).toBeNull();
    expect(await entries()).toHaveLength(1);
    expect(await events('operator_action')).toHaveLength(1);
  });

  test.each(['failed', 'discarded'] as const)(
    'reports the orphan again, and sends the request again, when the request was %s',
    async (status) => {
      await enqueue(2);
      const [entry] = await entries();
      await database.db
        .updateTable('projections')
        .set({ status, attempts: 8, error: 'no' })
        .where('id', '=', entry?.id ?? 0)
        .execute();
      expect(await numbers()).toEqual([2, 3]);
      expect(await enqueue(2)).toBeNull();
      expect(await entries()).toMatchObject([{ id: entry?.id, status: 'pending', attempts: 0, error: null }]);
    },
  );

  test('changes nothing for an issue that is no orphan', async () => {
    for (const number of [1, 4, 99]) expect(await enqueue(number)).toBeNull();
    const sent = await database.db
      .selectFrom('projections')
      .select('id')
      .where('repo_id', '=', bench.repo.id)
      .where('idempotency_key', 'like', 'enqueue-orphan%')
      .execute();
    expect(sent).toEqual([]);
    expect(await events('operator_action')).toEqual([]);
  });

  test('throws STORE_UNAVAILABLE when the host is not connected or does not answer', async () => {
    await expect(enqueue(2, () => null)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    bench.host.getIssue = refuse;
    await expect(enqueue(2)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(await entries()).toEqual([]);
  });

  test.each([
    ['orphan_missing_from_pg:nobody/nothing#2', 'CONSISTENCY_FINDING_NOT_FOUND'],
    ['stale_blocked:orph/shop#2', 'CONSISTENCY_FINDING_NOT_FOUND'],
    ['2', 'CONSISTENCY_FINDING_NOT_FOUND'],
  ])('%s: %s', async (id, code) => {
    await expect(enqueueOrphan(bench.engine, hostOf, id, OLGA)).rejects.toMatchObject({ code });
  });

  test('an id without an issue number is refused as such', async () => {
    const id = `orphan_missing_from_pg:orph-${run}/shop`;
    await expect(enqueueOrphan(bench.engine, hostOf, id, OLGA)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });
});

describe('an outbox entry of an issue without a record', () => {
  const answer = async (...results: Parameters<typeof bench.host.nextResults.push>) => {
    bench.host.nextResults.push(...results);
    await drain(bench);
  };

  test('an entry that the host refuses fails and is recorded', async () => {
    await enqueue(2);
    await answer({ status: 'refused', httpStatus: 404, message: 'Not Found', kind: 'other' });
    const [entry] = await entries();
    expect(entry).toMatchObject({ status: 'failed', attempts: 1, error: '404: Not Found' });
    expect(await events('projection_failed')).toMatchObject([
      { issue_id: null, issue_number: 2, payload: { projectionId: entry?.id, type: 'addLabels' } },
    ]);
    const deadLetters = await database.db
      .selectFrom('dead_letters')
      .selectAll()
      .where('repo_id', '=', bench.repo.id)
      .execute();
    expect(deadLetters).toEqual([]);
  });

  test('waits for a rate limit and is sent again after a failure', async () => {
    await enqueue(2);
    await answer({ status: 'rate-limited', retryAt: '2100-01-01T00:00:00.000Z', message: 'slow down' });
    expect((await entries())[0]).toMatchObject({
      status: 'pending',
      attempts: 0,
      retry_after: '2100-01-01T00:00:00.000Z',
    });
    await database.db.updateTable('projections').set({ retry_after: null }).where('issue_number', '=', 2).execute();
    await answer({ status: 'failed', message: 'socket hang up', ambiguous: true });
    expect((await entries())[0]).toMatchObject({ status: 'pending', attempts: 1, error: 'socket hang up' });
  });
});

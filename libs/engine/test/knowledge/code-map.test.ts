import { beforeEach, describe, expect, test } from '@jest/globals';
import { ScannedResult } from '@pipeline/domain';
import { enqueueDueScans, fail, reclaimExpired, releaseDue, start } from '@pipeline/engine';
import { applyHostIssue, claimNext, finish, hostIssue, makeBench, refOf, step, take, workUntil } from '../harness.ts';
import { Stage } from '../stage.ts';

// Scans of earlier tests are also due when the clock advances, so each test reads only its own rows.
const bench = new Stage({ issues: 0 });
const { database } = bench;

const HOUR = 3_600;
const file = (path: string, over: Partial<ScannedResult['files'][number]> = {}) => ({
  path,
  language: 'TypeScript',
  size: 10,
  sha: '0'.repeat(40),
  summary: null,
  ...over,
});
const result = (over: Partial<ScannedResult> = {}): ScannedResult => ({
  headSha: 'abc1234',
  truncated: false,
  files: [file('src/a.ts'), file('src/b.ts')],
  symbols: [{ path: 'src/a.ts', name: 'run', kind: 'function', line: 3 }],
  ...over,
});
const repoFiles = () =>
  database.db.selectFrom('repo_files').selectAll().where('tenant_id', '=', bench.tenantId).orderBy('path').execute();
const repoScans = () =>
  database.db.selectFrom('repo_scans').selectAll().where('tenant_id', '=', bench.tenantId).execute();
const scans = async () => (await bench.tasks()).filter((task) => task.task_type === 'code-map-scan');
const scan = () => take(bench, ['code-map-scan']);
const finishScan = async (over: Partial<ScannedResult> = {}) =>
  finish(bench, await scan(), { outcome: 'scanned', result: result(over) });
const merge = async (issueNumber: number) => {
  await applyHostIssue(bench, hostIssue(issueNumber));
  await workUntil(bench, 'merge-pending');
  await step(bench);
};
const failScan = async (errorClass: 'transient' | 'permanent' = 'transient') =>
  fail(bench.engine, refOf(bench, await scan()), { errorMessage: 'no git', errorClass, invocations: [] });

/** Text that does not compress, as an index would else do. */
const dense = (characters: number, from: number) =>
  Array.from({ length: characters }, (_, n) => String.fromCodePoint(from + ((n * 7_919) % 1_500))).join('');

describe('paths of many bytes', () => {
  test('stores paths up to the bound and refuses longer ones', async () => {
    const paths = [dense(1_000, 0x100), dense(666, 0x4e00), dense(500, 0x20000)];
    await enqueueDueScans(bench.engine);
    await finishScan({ files: paths.map((path) => file(path)), symbols: [] });
    expect((await repoFiles()).map(({ path }) => path).sort()).toEqual([...paths].sort());
    for (const path of [dense(667, 0x4e00), dense(1_000, 0x20000)])
      expect(ScannedResult.safeParse(result({ files: [file(path)], symbols: [] })).error?.issues).toMatchObject([
        { path: ['files', 0, 'path'], message: 'must have at most 2,000 bytes in UTF-8' },
      ]);
  });
});

describe('when a repo is scanned', () => {
  test('immediately when it was never scanned, then weekly, and never twice concurrently', async () => {
    await enqueueDueScans(bench.engine);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toHaveLength(1);
    const task = await scan();
    expect(task).toMatchObject({
      issueNumber: null,
      priority: 90,
      payload: { issue: null, branch: null, history: null },
    });
    await finish(bench, task, { outcome: 'scanned', result: result() });
    expect(await scans()).toEqual([]);
    bench.pass(7 * 24 * HOUR - 1);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toEqual([]);
    bench.pass(1);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toHaveLength(1);
  });

  test('scans no repo while it is disabled', async () => {
    await database.db.updateTable('repos').set({ enabled: false }).where('id', '=', bench.repo.id).execute();
    await enqueueDueScans(bench.engine);
    expect(await scans()).toEqual([]);
  });

  test('scans a repo after a merge; several merges are one scan', async () => {
    await enqueueDueScans(bench.engine);
    await finishScan();
    await merge(1);
    await merge(2);
    await enqueueDueScans(bench.engine);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toHaveLength(1);
    await merge(3);
    await finishScan();
    await enqueueDueScans(bench.engine);
    expect(await scans()).toEqual([]);
  });

  test('again when a merge happened during a scan', async () => {
    await enqueueDueScans(bench.engine);
    const running = await scan();
    await merge(1);
    await merge(2);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toHaveLength(1);
    await finish(bench, running, { outcome: 'scanned', result: result() });
    await enqueueDueScans(bench.engine);
    expect(await scans()).toMatchObject([{ status: 'pending' }]);
    await finishScan();
    await enqueueDueScans(bench.engine);
    expect(await scans()).toEqual([]);
  });

  test('scans a repo once with several schedulers and concurrent merges', async () => {
    await Promise.all(Array.from({ length: 6 }, () => enqueueDueScans(bench.engine)));
    expect(await scans()).toHaveLength(1);
    await finishScan();
    await merge(1);
    await Promise.all(Array.from({ length: 6 }, () => enqueueDueScans(bench.engine)));
    expect(await scans()).toHaveLength(1);
  });
});

describe('the result of a scan', () => {
  beforeEach(() => enqueueDueScans(bench.engine));

  test('stores the result with the symbols of each file, and counts it', async () => {
    expect(await finishScan()).toMatchObject({ state: null });
    expect(await repoFiles()).toMatchObject([
      { path: 'src/a.ts', language: 'TypeScript', size: 10, symbols: [{ name: 'run', kind: 'function', line: 3 }] },
      { path: 'src/b.ts', symbols: [] },
    ]);
    expect(await repoScans()).toMatchObject([
      { head_sha: 'abc1234', file_count: 2, symbol_count: 1, truncated: false, scanned_at: '2026-03-01T00:00:00.000Z' },
    ]);
  });

  test('replaces the previous one: missing files are deleted, rows of unchanged files are not written', async () => {
    await finishScan();
    const xmin = () =>
      database.db
        .selectFrom('repo_files')
        .select(['path', (eb) => eb.cast<string>(eb.ref('xmin' as never), 'text').as('xmin')])
        .where('tenant_id', '=', bench.tenantId)
        .execute();
    const before = new Map((await xmin()).map((row) => [row.path, row.xmin]));
    bench.pass(8 * 24 * HOUR);
    await enqueueDueScans(bench.engine);
    await finishScan({ files: [file('src/a.ts'), file('src/c.ts', { language: null, size: null, sha: null })] });
    expect((await repoFiles()).map((row) => row.path)).toEqual(['src/a.ts', 'src/c.ts']);
    expect(new Map((await xmin()).map((row) => [row.path, row.xmin])).get('src/a.ts')).toBe(before.get('src/a.ts'));
    bench.pass(8 * 24 * HOUR);
    await enqueueDueScans(bench.engine);
    await finishScan({ symbols: [], files: [file('src/a.ts', { summary: 'Runs.' })] });
    expect(await repoFiles()).toMatchObject([{ path: 'src/a.ts', summary: 'Runs.', symbols: [] }]);
  });

  test('the result of one repo does not change the files of another', async () => {
    await finishScan();
    const other = await makeBench(database.store, { slug: `${bench.repo.owner}/other` });
    await enqueueDueScans(other.engine);
    await finish(other, await take(other, ['code-map-scan']), {
      outcome: 'scanned',
      result: result({ files: [], symbols: [] }),
    });
    expect(await repoFiles()).toHaveLength(2);
  });

  test('stores a result of 20,000 files and 50,000 symbols, and leaves it unchanged the next time', async () => {
    const many = Array.from({ length: 20_000 }, (_, n) => file(`packages/part-${n % 97}/src/file-${n}.ts`));
    const symbols = Array.from({ length: 50_000 }, (_, n) => ({
      path: many[n % 20_000]?.path ?? '',
      name: `exportedFunction${n}`,
      kind: 'function',
      line: n + 1,
    }));
    await finishScan({ files: many, symbols });
    bench.pass(8 * 24 * HOUR);
    await enqueueDueScans(bench.engine);
    await finishScan({ files: many.toReversed(), symbols });
    const rows = await repoFiles();
    expect(rows).toHaveLength(20_000);
    expect(rows.reduce((sum, row) => sum + row.symbols.length, 0)).toBe(50_000);
    const written = await database.db
      .selectFrom('pipeline_events')
      .select('payload')
      .where('tenant_id', '=', bench.tenantId)
      .where('event_type', '=', 'repo_scanned')
      .orderBy('id')
      .execute();
    expect(written.map((row) => row.payload)).toMatchObject([
      { written: 20_000, removed: 0 },
      { written: 0, removed: 0 },
    ]);
  });

  test('changes nothing when the claim was lost', async () => {
    const lost = await scan();
    bench.pass(700);
    await reclaimExpired(bench.engine);
    await finishScan({ files: [file('new.ts')], symbols: [] });
    await expect(finish(bench, lost, { outcome: 'scanned', result: result() })).rejects.toMatchObject({
      code: 'CLAIM_LOST',
    });
    expect((await repoFiles()).map((row) => row.path)).toEqual(['new.ts']);
  });

  test('one of several concurrent claims gets the scan', async () => {
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimNext(bench, ['code-map-scan'])));
    const [task, another] = claims.filter((claimed) => claimed !== null);
    expect(another).toBeUndefined();
    if (task) await start(bench.engine, refOf(bench, task));
  });
});

describe('a scan that fails', () => {
  beforeEach(() => enqueueDueScans(bench.engine));

  test('retries a failed scan after a backoff, and the next one is due a day after the last attempt', async () => {
    expect(await failScan()).toMatchObject({ requeued: true });
    await expect(scan()).rejects.toThrow('nothing to claim');
    bench.pass(31);
    await releaseDue(bench.engine);
    expect(await failScan('permanent')).toMatchObject({ requeued: false });
    expect(await scans()).toEqual([]);
    bench.pass(24 * HOUR - 1);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toEqual([]);
    bench.pass(1);
    await enqueueDueScans(bench.engine);
    expect(await scans()).toMatchObject([{ attempt: 0 }]);
  });

  test('gives a scan up after three silent workers', async () => {
    for (const attempt of [0, 1, 2]) {
      expect((await scan()).attempt).toBe(attempt);
      bench.pass(700);
      await reclaimExpired(bench.engine);
    }
    expect(await scans()).toEqual([]);
    const events = await database.db
      .selectFrom('pipeline_events')
      .select(['event_type', 'issue_number'])
      .where('tenant_id', '=', bench.tenantId)
      .where('event_type', 'in', ['task_given_up', 'task_reclaimed'])
      .execute();
    expect(events.map((row) => row.event_type).sort()).toEqual([
      'task_given_up',
      'task_reclaimed',
      'task_reclaimed',
      'task_reclaimed',
    ]);
    expect(events.every((row) => row.issue_number === null)).toBe(true);
  });
});

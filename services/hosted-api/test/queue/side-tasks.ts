import { beforeEach, describe, expect, test } from '@jest/globals';
import { enqueueDueScans } from '@pipeline/engine';
import { type Answer, makeTenant, type Tenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('side tasks', () => {
  let tenant: Tenant;
  let claimed: { id: string; claimToken: string };

  /** A worker holds the scan of a repo. */
  beforeEach(async () => {
    const { api } = hosting;
    tenant = await makeTenant(api);
    await enqueueDueScans(api.owner);
    const worker = { name: 'mapper', taskTypes: ['code-map-scan'] };
    const registered = await api.post('/api/worker/register', worker, { token: tenant.token });
    const { body } = await claim(registered.body.workerId);
    claimed = body.task;
    await api.post(
      `/api/worker/tasks/${claimed.id}/start`,
      { claimToken: claimed.claimToken },
      { token: tenant.token },
    );
  });

  const claim = (workerId: string): Promise<Answer> =>
    hosting.api.post('/api/worker/claim', { workerId, taskTypes: ['code-map-scan'] }, { token: tenant.token });

  const report = (result: unknown): Promise<Answer> =>
    hosting.api.post(
      `/api/worker/tasks/${claimed.id}/complete`,
      { claimToken: claimed.claimToken, outcome: 'scanned', result },
      { token: tenant.token },
    );

  const stored = () =>
    hosting.database.db.selectFrom('repo_files').select('path').where('tenant_id', '=', tenant.id).execute();

  describe('the scan of a repo, over HTTP', () => {
    test('a scan is about no issue, and its report moves none', async () => {
      expect(claimed).toMatchObject({
        taskType: 'code-map-scan',
        issueNumber: null,
        payload: { issue: null, history: null, state: null },
      });
      const answer = await report({ files: [{ path: 'src/a.ts' }, { path: 'with \0 inside' }], symbols: [] });
      expect(answer).toMatchObject({ status: 200, body: { ok: true, state: null } });
      expect((await stored()).map(({ path }) => path).sort()).toEqual(['src/a.ts', 'with \ufffd inside']);
    });

    test('takes a repository at the bounds in one report', async () => {
      const files = Array.from({ length: 20_000 }, (_, n) => ({
        path: `packages/part-${n % 97}/src/some/folder/file-${n}.ts`,
        language: 'TypeScript',
        size: 12_345,
        sha: n.toString(16).padStart(40, '0'),
      }));
      const symbols = Array.from({ length: 50_000 }, (_, n) => ({
        path: files[n % files.length]?.path,
        name: `exportedFunction${n}`,
        kind: 'function',
        line: n + 1,
      }));
      expect(JSON.stringify({ files, symbols }).length).toBeGreaterThan(8 * 2 ** 20);
      expect((await report({ headSha: 'abcdef1', files, symbols })).status).toBe(200);
      expect(await stored()).toHaveLength(20_000);
    });

    test.each([
      ['a path out of the repository', { files: [{ path: '../secret' }], symbols: [] }, /without "\.\."/],
      ['a file twice', { files: [{ path: 'a' }, { path: 'a' }], symbols: [] }, /a is listed twice/],
      [
        'a symbol of an unknown file',
        { files: [], symbols: [{ path: 'a', name: 'x', kind: 'function', line: 1 }] },
        /a is not among the files/,
      ],
      ['line 0', { files: [{ path: 'a' }], symbols: [{ path: 'a', name: 'x', kind: 'f', line: 0 }] }, /line/],
      ['no files', { symbols: [] }, /files/],
      ['too many files', { files: Array.from({ length: 20_001 }, (_, n) => ({ path: `${n}` })), symbols: [] }, /20000/],
    ])('refuses a scan with %s, names the reason, and changes nothing', async (_what, result, why) => {
      const answer = await report(result);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_BODY', error: expect.stringMatching(why) } });
      expect(await stored()).toEqual([]);
    });

    test('over 16 MiB is too large', async () => {
      const files = Array.from({ length: 20_000 }, (_, n) => ({ path: `${n}`, summary: 'x'.repeat(900) }));
      expect(await report({ files, symbols: [] })).toMatchObject({ status: 413, body: { code: 'PAYLOAD_TOO_LARGE' } });
    });

    test('refuses another outcome of a scan with those it may have', async () => {
      const body = { claimToken: claimed.claimToken, outcome: 'analyzed', result: {} };
      const answer = await hosting.api.post(`/api/worker/tasks/${claimed.id}/complete`, body, { token: tenant.token });
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'INVALID_ARGUMENT', error: expect.stringContaining('scanned') },
      });
    });
  });
});

import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FindingInput } from '@pipeline/domain';
import { actOnIssue } from '@pipeline/engine';
import { sql } from 'kysely';
import { admit } from '../support/bench.ts';
import { OLGA } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { finding, workOn } from '../workers/agent-work.ts';
import { world } from './world.ts';

describe('findings', () => {
  const { database } = world;
  beforeAll(() => database.clear());
  const bench = new Shop(database);
  const { call } = bench;
  const UNKNOWN = '0198c5a4-7c1e-7000-8000-000000000001';
  let number = 0;

  beforeEach(async () => {
    database.clock.now = null;
    await sql`truncate finding_sightings, findings, intelligence_evidence, intelligence_scopes, intelligence_embeddings,
    intelligence_items`.execute(database.db);
  });

  interface Shown {
    id: string;
    status: string;
    title: string;
    issueId: number | null;
    issueNumber: number | null;
    resolvedByIssueId: number | null;
    resolvedAt: string | null;
    dismissedReason: string | null;
  }
  interface Listed {
    items: Shown[];
    page: { total: number | null; limit: number; offset: number; hasMore: boolean };
  }
  const list = async (query = '') =>
    (await call('GET', `/api/findings?repo=acme/shop${query}`)).json as never as Listed;
  const ofIssue = async (issue: number | string, query = '') =>
    (await call('GET', `/api/issues/acme/shop/${issue}/findings${query}`)).json as never as Listed;
  const move = async (id: string, name: string, body: object = {}) =>
    call('POST', `/api/findings/${id}/${name}`, { body });
  const movedTo = async (id: string, name: string, body: object = {}) => {
    const answer = await move(id, name, body);
    expect([answer.status, answer.json]).toEqual([200, { ok: true, finding: expect.any(Object) }]);
    return (answer.json as never as { finding: Shown }).finding;
  };

  /** An agent works on a new issue and finds this. @returns the number of the issue. */
  async function find(...findings: FindingInput[]): Promise<number> {
    number += 1;
    await admit(bench, number);
    await workOn(bench, { findings });
    return number;
  }
  const findOne = async (over: Partial<FindingInput> = {}) => {
    const issue = await find(finding(over));
    const [only] = (await list()).items;
    return { id: only?.id ?? '', issue };
  };
  const events = async () => {
    const { rows } = await sql<{ type: string; payload: Record<string, unknown> }>`
    select event_type as type, payload from pipeline_events
    where event_type like 'finding%' or event_type = 'operator_action' order by id`.execute(database.db);
    return rows;
  };

  describe('the list of a repo', () => {
    test('shows all fields, newest first, counts them and pages', async () => {
      const issue = await find(finding(), finding({ title: 'Second', severity: 'high', category: 'design' }));
      const { items, page } = await list();
      expect(page).toEqual({ total: 2, limit: 100, offset: 0, hasMore: false });
      expect(items.find(({ title }) => title === 'No test for refunds')).toEqual({
        id: expect.any(String),
        tenantId: bench.tenantId,
        repoId: bench.repo.id,
        issueId: expect.any(Number),
        issueNumber: issue,
        prId: null,
        prNumber: null,
        agentName: 'analyzer',
        taskId: expect.any(String),
        ...finding(),
        status: 'open',
        resolvedByIssueId: null,
        resolvedAt: null,
        dismissedReason: null,
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      });
      const second = await list('&limit=1&offset=1');
      expect([second.items.length, second.page.hasMore, (await list('&limit=1')).page.hasMore]).toEqual([
        1,
        false,
        true,
      ]);
    });

    test('filters the list by status, category and severity', async () => {
      await find(finding(), finding({ title: 'Second', severity: 'high', category: 'design' }));
      const titles = async (query: string) => (await list(query)).items.map(({ title }) => title);
      expect(await titles('&severity=high')).toEqual(['Second']);
      expect(await titles('&category=tests')).toEqual(['No test for refunds']);
      expect(await titles('&status=resolved')).toEqual([]);
      expect((await list('&limit=1000')).page.limit).toBe(200);
    });

    test.each([
      ['no repo', '/api/findings'],
      ['a repo without a slash', '/api/findings?repo=acme'],
      ['three segments', '/api/findings?repo=a/b/c'],
      ['an unknown status', '/api/findings?repo=acme/shop&status=new'],
      ['an unknown severity', '/api/findings?repo=acme/shop&severity=bad'],
      ['a limit that is no number', '/api/findings?repo=acme/shop&limit=x'],
      ['an offset that is no number', '/api/findings?repo=acme/shop&offset=x'],
    ])('refuses %s', async (_what, path) => {
      const { status, json } = await call('GET', path);
      expect([status, json]).toEqual([400, { error: expect.any(String), code: 'INVALID_INPUT', status: 400 }]);
    });

    test('reports that a repo is unknown', async () => {
      const { status, json } = await call('GET', '/api/findings?repo=acme/nothing');
      expect([status, json]).toEqual([404, { error: 'Repo not found: acme/nothing', code: 'NOT_FOUND', status: 404 }]);
    });
  });

  describe('the list of an issue', () => {
    test('shows what was found there, also what another issue had met before', async () => {
      const first = await find(finding());
      const second = await find(finding({ title: 'No test for REFUNDS!' }), finding({ title: 'Own' }));
      expect((await list()).page.total).toBe(2);
      expect((await ofIssue(first)).items.length).toBe(1);
      const { items, page } = await ofIssue(second);
      expect(items.map(({ title }) => title).sort()).toEqual(['No test for REFUNDS!', 'Own']);
      expect(page).toEqual({ total: null, limit: 100, offset: 0, hasMore: false });
      expect(Object.keys(items[0] ?? {}).sort()).toEqual(
        [
          ...['agentName', 'blocksProgress', 'category', 'confidence', 'createdAt', 'evidence', 'findingType', 'id'],
          ...['issueNumber', 'recommendation', 'severity', 'status', 'summary', 'taskId', 'title', 'updatedAt'],
        ].sort(),
      );
      expect((await ofIssue(second, '?limit=1')).page).toEqual({ total: null, limit: 1, offset: 0, hasMore: true });
      expect((await ofIssue(second, '?limit=0')).page.limit).toBe(1);
      expect((await ofIssue(second, '?limit=999')).page.limit).toBe(200);
    });

    test('the list is empty for an unknown issue or repo', async () => {
      expect((await ofIssue(99_999)).items).toEqual([]);
      expect((await call('GET', '/api/issues/acme/nothing/1/findings')).status).toBe(200);
    });

    test.each([
      ['a name for a number', '/api/issues/acme/shop/x/findings', 'INVALID_ISSUE_NUMBER'],
      ['zero', '/api/issues/acme/shop/0/findings', 'INVALID_ISSUE_NUMBER'],
      ['too few segments', '/api/issues/acme/1/findings', 'INVALID_INPUT'],
      ['too many segments', '/api/issues/a/b/c/1/findings', 'INVALID_INPUT'],
      ['a limit that is no number', '/api/issues/acme/shop/1/findings?limit=x', 'INVALID_INPUT'],
    ])('refuses %s', async (_what, path, code) => {
      const { status, json } = await call('GET', path);
      expect([status, json]).toEqual([400, { error: expect.any(String), code, status: 400 }]);
    });
  });

  describe('what is found again', () => {
    test('a repeated finding is one finding with its newest text; another position or kind is another', async () => {
      await find(finding());
      await find(finding({ summary: 'Newer.' }));
      await find(finding({ evidence: [{ kind: 'file', path: 'src/other.ts' }] }));
      await find(finding({ findingType: 'obs' }));
      const { items } = await list();
      expect(items.length).toBe(3);
      expect(items.map((item) => (item as never as { summary: string }).summary)).toContain('Newer.');
      const { rows } = await sql<{ occurrences: number }>`select occurrences from findings order by id`.execute(
        database.db,
      );
      expect(rows.map((row) => row.occurrences)).toEqual([2, 1, 1]);
    });

    test('a resolved finding that is found again is open again, and belongs to the issue that found it', async () => {
      const { id } = await findOne();
      expect((await movedTo(id, 'resolve')).resolvedAt).not.toBeNull();
      const again = await find(finding());
      expect((await list()).items).toMatchObject([{ id, status: 'open', resolvedAt: null, issueNumber: again }]);
    });

    test('stays dismissed', async () => {
      const { id } = await findOne();
      await movedTo(id, 'dismiss', { reason: 'generated code' });
      await find(finding());
      expect((await list()).items).toMatchObject([{ id, status: 'dismissed', dismissedReason: 'generated code' }]);
    });

    test("and blocks a merge is each issue's own", async () => {
      await find(finding({ blocksProgress: true }));
      await find(finding({ blocksProgress: true }));
      expect((await list()).items.length).toBe(2);
    });
  });

  describe('moves', () => {
    const ways: [from: string[], name: string, to: string][] = [
      [[], 'accept', 'accepted'],
      [[], 'resolve', 'resolved'],
      [[], 'dismiss', 'dismissed'],
      [['accept'], 'resolve', 'resolved'],
      [['accept'], 'dismiss', 'dismissed'],
      [['resolve'], 'reopen', 'open'],
      [['dismiss'], 'reopen', 'open'],
    ];
    test.each(ways)('a finding after %j: %s leads to %s', async (before, name, to) => {
      const { id } = await findOne();
      for (const each of before) await movedTo(id, each);
      expect(await movedTo(id, name)).toMatchObject({ id, status: to });
    });

    const refused: [from: string[], name: string][] = [
      [[], 'reopen'],
      [['accept'], 'accept'],
      [['accept'], 'reopen'],
      ...['accept', 'resolve', 'dismiss'].map((name): [string[], string] => [['resolve'], name]),
      ...['accept', 'resolve', 'dismiss'].map((name): [string[], string] => [['dismiss'], name]),
    ];
    test.each(refused)('a finding after %j: %s is refused and changes nothing', async (before, name) => {
      const { id } = await findOne();
      for (const each of before) await movedTo(id, each);
      const was = (await list()).items;
      const { status, json } = await move(id, name);
      expect([status, json]).toEqual([400, { error: expect.any(String), code: 'INVALID_TRANSITION', status: 400 }]);
      expect((await list()).items).toEqual(was);
    });

    test('refuses every move of a superseded finding', async () => {
      const { id } = await findOne();
      await database.db.updateTable('findings').set({ status: 'superseded' }).execute();
      for (const name of ['accept', 'resolve', 'dismiss', 'reopen']) {
        expect(((await move(id, name)).json as never as { code: string }).code).toBe('INVALID_TRANSITION');
      }
    });

    test('answers 404 to moves of unknown objects', async () => {
      for (const id of [UNKNOWN, 'x', '%00']) {
        const { status, json } = await move(id, 'accept');
        expect([id, status, (json as never as { code: string }).code]).toEqual([id, 404, 'NOT_FOUND']);
      }
    });

    test('show who, why and about which issue, and when a finding is opened and closed', async () => {
      const { id, issue } = await findOne();
      await sql`delete from pipeline_events`.execute(database.db);
      await movedTo(id, 'accept', { reason: 'true' });
      await movedTo(id, 'dismiss', { reason: 'not worth it' });
      await movedTo(id, 'reopen');
      const by = { actorId: OLGA.username };
      expect(await events()).toEqual([
        { type: 'operator_action', payload: { action: 'finding-accept', ...by, reason: 'true', findingId: id } },
        {
          type: 'operator_action',
          payload: { action: 'finding-dismiss', ...by, reason: 'not worth it', findingId: id },
        },
        { type: 'finding_closed', payload: { findingId: id, status: 'dismissed' } },
        { type: 'operator_action', payload: { action: 'finding-reopen', ...by, reason: null, findingId: id } },
        { type: 'finding_opened', payload: { findingId: id, status: 'open' } },
      ]);
      const { rows } = await sql<{ status: string }>`
      select e.status from issue_events e join issues i on i.tenant_id = e.tenant_id and i.id = e.issue_id
      where i.issue_number = ${issue} and e.status like 'finding%' order by e.id`.execute(database.db);
      expect(rows.map((row) => row.status)).toEqual(['finding accepted', 'finding dismissed', 'finding open']);
    });

    test.each([
      ['a body that is no JSON', '{', 'INVALID_JSON'],
      ['a reason that is no text', { reason: 7 }, 'INVALID_BODY'],
      ['an issue number that is none', { issueNumber: 'x' }, 'INVALID_BODY'],
    ])('refuse %s', async (_what, body, code) => {
      const { id } = await findOne();
      const { status, json } = await call('POST', `/api/findings/${id}/accept`, { body });
      expect([status, (json as never as { code: string }).code]).toEqual([400, code]);
    });
  });

  describe('an issue that is to settle a finding', () => {
    test('resolves it when it is done', async () => {
      const { id } = await findOne();
      number += 1;
      const settling = number;
      const settlingId = await admit(bench, settling);
      expect(await movedTo(id, 'accept', { issueNumber: settling })).toMatchObject({ resolvedByIssueId: settlingId });
      await sql`delete from pipeline_events`.execute(database.db);
      const actor = { type: 'operator', id: 'olga', agent: null } as const;
      await actOnIssue(bench.engine, { tenantId: bench.tenantId, issueId: settlingId }, 'cancel', actor);
      expect((await list()).items).toMatchObject([{ id, status: 'resolved', resolvedByIssueId: settlingId }]);
      expect((await events()).filter(({ type }) => type === 'finding_closed').length).toBe(1);
      const late = await findOne({ title: 'Late' });
      const { status, json } = await move(late.id, 'accept', { issueNumber: settling });
      expect([status, (json as never as { code: string }).code]).toEqual([400, 'INVALID_INPUT']);
    });

    test('must be one of its repo', async () => {
      const { id } = await findOne();
      const { status, json } = await move(id, 'resolve', { issueNumber: 77_777 });
      expect([status, (json as never as { code: string }).code]).toEqual([404, 'ISSUE_NOT_FOUND']);
    });
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { fingerprint, type State } from '@pipeline/domain';
import { runBulkAction } from '@pipeline/engine';
import { ensureTenant, findIssue, inTransaction, lockIssue, updateIssue } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { sql } from 'kysely';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { type Call, serveConnected } from '../support/served-app.ts';
import { database } from './actions-database.ts';

describe('actions on many issues', () => {
  const ERROR = 'npm ERR! 404 at /srv/build/17';
  let call: Call;
  let close: () => Promise<void>;
  let run = 0;
  let bench: Bench;
  let ids: number[];

  beforeAll(async () => {
    bench = await makeBench(database.store, 'Acme/Start');
    ({ call, close } = await serveConnected({ engine: bench.engine }));
  });
  afterAll(() => close());

  /** A repo with four issues: one worked on, three blocked, two of these by one error. */
  beforeEach(async () => {
    run += 1;
    bench = await makeBench(database.store, `Acme/Shop-${run}`);
    ids = [];
    for (const number of [1, 2, 3, 4]) ids.push(await admit(bench, number));
    for (const number of [2, 3, 4]) await block(number, number === 4 ? 'something else' : ERROR);
  });

  const repo = () => `acme/shop-${run}`;
  const put = (number: number, change: Parameters<typeof updateIssue>[3]) =>
    updateIssue(database.db as never, bench.tenantId, ids[number - 1] ?? 0, change);
  const block = (number: number, error: string) =>
    put(number, {
      state: 'failure-blocked',
      is_blocked: true,
      blocked_from_state: 'planning',
      block_reason: 'unknown',
      block_classification: 'permanent',
      last_error: error,
      error_fingerprint: fingerprint(error),
    });
  const issue = async (number: number) => {
    const row = await findIssue(database.db, bench.tenantId, bench.repo.id, number);
    if (!row) throw new Error('no issue');
    return row;
  };
  const states = async () => Promise.all([1, 2, 3, 4].map(async (number) => (await issue(number)).state));

  interface Answer {
    ok: true;
    dryRun: boolean;
    matched: number;
    succeeded: number;
    skipped: number;
    failed: { repo: string; issueNumber: number; code: string; error: string }[];
    issues: { repo: string; tenant: string; issueNumber: number; title: string; state: State }[];
    next: string | null;
  }
  const post = (body: unknown) => call('POST', '/api/issues/actions', { body });
  const act = async (body: Record<string, unknown>) => (await post(body)).json as never as Answer;
  const numbers = ({ issues }: Answer) => issues.map(({ issueNumber }) => issueNumber);

  describe('nothing is changed without dryRun false', () => {
    test('returns what would be changed when dryRun is absent', async () => {
      const answer = await act({ action: 'cancel', filter: { repo: repo() } });
      expect(answer).toEqual({
        ok: true,
        dryRun: true,
        matched: 4,
        succeeded: 0,
        skipped: 0,
        failed: [],
        issues: expect.any(Array),
        next: null,
      });
      expect(answer.issues[0]).toEqual({
        repo: `Acme/Shop-${run}`,
        tenant: 'default',
        issueNumber: 1,
        title: 'Issue 1',
        state: 'analyzing',
      });
      expect(await states()).toEqual(['analyzing', 'failure-blocked', 'failure-blocked', 'failure-blocked']);
    });

    test.each<[string, unknown, string, RegExp]>([
      ['no action', { filter: { label: 'x' } }, 'INVALID_BODY', /action/],
      ['another action', { action: 'reimplement', filter: { label: 'x' } }, 'INVALID_BODY', /action/],
      ['no filter', { action: 'pause' }, 'INVALID_BODY', /^filter is required/],
      [
        'an empty filter',
        { action: 'pause', filter: {} },
        'INVALID_BODY',
        /^filter: must contain at least one of: repo,/,
      ],
      [
        'a misspelt criterion',
        { action: 'pause', filter: { repo: 'a/b', state: [] } },
        'INVALID_BODY',
        /^filter: unknown criterion state; expected repo, .*states/,
      ],
      ['a label with NUL', { action: 'pause', filter: { label: 'a\0' } }, 'INVALID_BODY', /^filter.label: .*NUL/],
      ['no states', { action: 'pause', filter: { states: [] } }, 'INVALID_BODY', /^filter.states: /],
      ['no such state', { action: 'pause', filter: { states: ['asleep'] } }, 'INVALID_BODY', /^filter.states.0: /],
      ['a repo without owner', { action: 'pause', filter: { repo: 'shop' } }, 'INVALID_BODY', /must be owner\/repo/],
      ['a bad fingerprint', { action: 'pause', filter: { fingerprint: 'x' } }, 'INVALID_BODY', /16 hexadecimal/],
      ['too many', { action: 'pause', filter: { label: 'x' }, limit: 501 }, 'INVALID_BODY', /^limit: /],
      ['a made-up place', { action: 'pause', filter: { label: 'x' }, after: '7' }, 'INVALID_BODY', /^after: .*`next`/],
      [
        'a place beyond the numbers of issues',
        { action: 'pause', filter: { label: 'x' }, after: '1.1.2147483648' },
        'INVALID_BODY',
        /^after: .*`next`/,
      ],
      ['no target', { action: 'transition', filter: { label: 'x' }, reason: 'y' }, 'INVALID_STATE', /targetState/],
      [
        'a blank reason',
        { action: 'transition', targetState: 'done', filter: { label: 'x' }, reason: ' ' },
        'INVALID_ARGUMENT',
        /reason must be a non-blank string/,
      ],
      ['no JSON', '{', 'INVALID_JSON', /Invalid JSON body/],
    ])('%s is a 400 that names what is wrong', async (_what, body, code, error) => {
      const answer = await post(body);
      expect(answer.json).toEqual({ status: 400, code, error: expect.stringMatching(error) });
    });

    test('an unknown repo or tenant is a 404; a slug that two tenants have asks for the tenant', async () => {
      expect((await post({ action: 'pause', filter: { repo: 'no/such' } })).json).toMatchObject({
        status: 404,
        error: 'Repo not found: no/such',
      });
      expect((await post({ action: 'pause', filter: { tenant: 'nobody' } })).json).toMatchObject({
        status: 404,
        error: 'Tenant not found: nobody',
      });
      const tenantId = await ensureTenant(database.db, `second-${run}`);
      const { id: _id, ...copy } = bench.repo;
      await database.db
        .insertInto('repos')
        .values({ ...copy, compare: null, tenant_id: tenantId })
        .execute();
      expect((await post({ action: 'pause', filter: { repo: repo() } })).json).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
        error: expect.stringContaining('parameter tenant'),
      });
      expect((await act({ action: 'pause', filter: { repo: repo(), tenant: 'default' } })).matched).toBe(4);
      expect((await act({ action: 'pause', filter: { repo: repo(), tenant: `second-${run}` } })).matched).toBe(0);
    });
  });

  describe('the filter', () => {
    test.each<[string, Record<string, unknown>, number[]]>([
      ['states', { states: ['analyzing'] }, [1]],
      ['isBlocked', { isBlocked: true }, [2, 3, 4]],
      ['blockClassification', { blockClassification: 'permanent' }, [2, 3, 4]],
      ['the pattern of an error', { errorPattern: 'npm ERR! <n> at <path>' }, [2, 3]],
      ['a message', { errorPattern: 'npm ERR! 500 at /other/place' }, [2, 3]],
      ['its fingerprint', { fingerprint: fingerprint(ERROR) }, [2, 3]],
      ['issueNumbers', { issueNumbers: [1, 4, 99] }, [1, 4]],
      ['several that all hold', { isBlocked: true, issueNumbers: [1, 4] }, [4]],
    ])('filters by %s', async (_what, filter, expected) => {
      expect(numbers(await act({ action: 'pause', filter: { repo: repo(), ...filter } }))).toEqual(expected);
    });

    test('done issues are left out unless they are named', async () => {
      await put(1, { state: 'done' });
      expect(numbers(await act({ action: 'pause', filter: { repo: repo() } }))).toEqual([2, 3, 4]);
      expect(numbers(await act({ action: 'pause', filter: { repo: repo(), states: ['done'] } }))).toEqual([1]);
    });

    test('an issue that has got over its error is not meant any more', async () => {
      await put(2, { state: 'planning', is_blocked: false });
      expect(numbers(await act({ action: 'retry', filter: { repo: repo(), errorPattern: ERROR } }))).toEqual([3]);
    });
  });

  describe('the action', () => {
    test('unblocks a whole group, each issue by the action on one issue', async () => {
      const filter = { repo: repo(), errorPattern: ERROR };
      const answer = await act({ action: 'unblock', filter, dryRun: false, reason: ' the registry is back ' });
      expect(answer).toMatchObject({ dryRun: false, matched: 2, succeeded: 2, skipped: 0, failed: [], next: null });
      expect(answer.issues.map(({ state }) => state)).toEqual(['planning', 'planning']);
      expect(await states()).toEqual(['analyzing', 'planning', 'planning', 'failure-blocked']);
      const { labels } = await issue(2);
      expect(labels).toEqual(['svc:planning']);
      // Again: none meets the filter now.
      expect(await act({ action: 'unblock', filter, dryRun: false })).toMatchObject({ matched: 0, succeeded: 0 });
    });

    test('each issue and the call itself are in the log, with who and why, tied together', async () => {
      const filter = { repo: repo(), issueNumbers: [2, 3] };
      await act({ action: 'pause', filter, dryRun: false, reason: 'holidays' });
      const entries = await database.db
        .selectFrom('pipeline_events')
        .select(['issue_number', 'agent', 'payload'])
        .where('repo_id', '=', bench.repo.id)
        .where('event_type', '=', 'operator_action')
        .orderBy('id')
        .execute();
      const bulkId = (entries[0]?.payload as { bulkId?: string } | undefined)?.bulkId;
      const one = { action: 'pause', actorId: 'olga', reason: 'holidays', bulkId };
      expect(entries).toEqual([
        { issue_number: 2, agent: 'olga', payload: one },
        { issue_number: 3, agent: 'olga', payload: one },
        {
          issue_number: null,
          agent: 'olga',
          payload: { ...one, action: 'bulk-pause', filter, succeeded: 2, skipped: 0, failed: [] },
        },
      ]);
      expect(bulkId).toEqual(expect.any(String));
    });

    test('reports a failed issue with its reason and continues with the others', async () => {
      const answer = await act({
        action: 'transition',
        targetState: 'needs-clarification',
        reason: 'ask first',
        filter: { repo: repo(), issueNumbers: [1, 2] },
        dryRun: false,
      });
      expect(answer).toMatchObject({ matched: 2, succeeded: 1, skipped: 0 });
      expect(answer.failed).toEqual([
        {
          repo: `Acme/Shop-${run}`,
          tenant: 'default',
          issueNumber: 2,
          code: 'INVALID_TRANSITION',
          error: expect.stringContaining('Valid targets: '),
        },
      ]);
      expect(await states()).toEqual(['needs-clarification', 'failure-blocked', 'failure-blocked', 'failure-blocked']);
    });

    test('goes on where the last call ended', async () => {
      const body = { action: 'pause', filter: { repo: repo() }, dryRun: false, limit: 3 };
      const first = await act(body);
      expect([first.matched, numbers(first), first.next]).toEqual([4, [1, 2, 3], expect.any(String)]);
      const second = await act({ ...body, after: first.next });
      expect([second.matched, numbers(second), second.next]).toEqual([1, [4], null]);
      for (const number of [1, 2, 3, 4]) expect((await issue(number)).is_paused).toBe(true);
    });

    test('an issue that moved on before its turn is left alone', async () => {
      const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
      const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>();
      const holder = inTransaction(database.store.db, async (tx) => {
        const row = await lockIssue(tx, bench.tenantId, ids[1] ?? 0);
        onLocked();
        await held;
        await updateIssue(tx, bench.tenantId, row?.id ?? 0, { state: 'planning', is_blocked: false });
      });
      await locked;
      const acting = act({ action: 'cancel', filter: { repo: repo(), isBlocked: true }, dryRun: false });
      await until('it waits for the first one', async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(database.db);
        return rows.length > 0;
      });
      letGo();
      await holder;
      expect(await acting).toMatchObject({ matched: 3, succeeded: 2, skipped: 1, failed: [] });
      expect(await states()).toEqual(['analyzing', 'planning', 'done', 'done']);
    });

    test('a caller that goes away leaves each issue done or untouched', async () => {
      const gone = new AbortController();
      const leaving = { ...bench.engine, notify: () => gone.abort() };
      const request = {
        what: { action: 'pause' as const },
        where: { repo: repo() },
        criteria: {},
        after: null,
        limit: 500,
        dryRun: false,
      };
      const { outcomes, next } = await runBulkAction(leaving, request, OLGA, gone.signal);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['succeeded']);
      expect(next).toEqual({ tenantId: bench.tenantId, repoId: bench.repo.id, number: 1 });
      expect(await Promise.all([1, 2, 3, 4].map(async (number) => (await issue(number)).is_paused))).toEqual([
        true,
        false,
        false,
        false,
      ]);
      // The same call again does the rest.
      const again = await runBulkAction(bench.engine, request, OLGA, never());
      expect([again.outcomes.length, again.next]).toEqual([4, null]);
    });
  });

  const OLGA = { type: 'operator', id: 'olga', agent: null } as const;
  const never = () => new AbortController().signal;

  afterAll(() => database.clear());
});

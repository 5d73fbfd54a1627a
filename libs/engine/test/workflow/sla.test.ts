import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_WORKFLOW, type Settings, STATES, type State } from '@pipeline/domain';
import { type Actor, actOnIssue, watchSla } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { type Bench, makeBench } from '../harness.ts';

const database = testDatabase();
const START = Date.parse('2026-03-01T00:00:00Z');
let bench: Bench;
let number = 0;

const at = (minutes: number): void => {
  database.clock.now = new Date(START + minutes * 60_000);
};
const iso = (minutes: number) => new Date(START + minutes * 60_000).toISOString();
const settings = (warnAfterMinutes: Settings['sla']['warnAfterMinutes']) => ({ sla: { warnAfterMinutes } });

beforeEach(async () => {
  at(0);
  await sql`truncate issues, alerts, stream_outbox, workflow_snapshots cascade`.execute(database.db);
  bench = await makeBench(database.store);
  await sql`update repos set enabled = true`.execute(database.db);
});

/** An issue that has been in a state since the start. */
async function issueIn(state: State): Promise<number> {
  number += 1;
  const host = { host_created_at: iso(0), host_updated_at: iso(0) };
  await database.db
    .insertInto('issues')
    .values({
      tenant_id: bench.tenantId,
      repo_id: bench.repo.id,
      issue_number: number,
      title: '',
      body: '',
      url: '',
      ...host,
      state,
      state_entered_at: iso(0),
    })
    .execute();
  return number;
}
const change = (issue: number, row: { state?: State; state_entered_at?: string; is_paused?: boolean }) =>
  database.db.updateTable('issues').set(row).where('issue_number', '=', issue).execute();
const OLGA: Actor = { type: 'operator', id: 'olga', agent: null };
const key = async (issue: number) => {
  const row = database.db.selectFrom('issues').select('id').where('issue_number', '=', issue);
  return { tenantId: bench.tenantId, issueId: (await row.executeTakeFirstOrThrow()).id };
};
const open = () => database.db.selectFrom('alerts').selectAll().where('resolved_at', 'is', null).execute();
const published = () =>
  database.db.selectFrom('stream_outbox').select('data').where('event_type', '=', 'alert').execute();

describe('SLA of a state', () => {
  test('raises one alert from the exact minute of the limit on', async () => {
    const issue = await issueIn('planning');
    at(119);
    expect(await watchSla(bench.engine)).toEqual({ raised: 0, resolved: 0, more: false });
    at(120);
    expect(await watchSla(bench.engine)).toMatchObject({ raised: 1 });
    expect(await watchSla(bench.engine)).toMatchObject({ raised: 0 });
    expect(await open()).toMatchObject([
      {
        detector: 'sla_breach',
        severity: 'warning',
        repo: 'acme/shop',
        issue_number: issue,
        value: 120,
        threshold: 120,
        count: 1,
        message: `acme/shop#${issue} is in planning for 120 minutes; the warning threshold is 120`,
      },
    ]);
    expect(await published()).toHaveLength(1);
  });

  test.each<[string, (issue: number) => Promise<unknown>]>([
    ['moves on', (issue) => change(issue, { state: 'in-review', state_entered_at: iso(130) })],
    ['is done', (issue) => change(issue, { state: 'done' })],
    ['is paused', async (issue) => actOnIssue(bench.engine, await key(issue), 'pause', OLGA)],
    ['is in a repo that was disabled', () => sql`update repos set enabled = false`.execute(database.db)],
  ])('resolves the alert when the issue %s', async (_how, end) => {
    const issue = await issueIn('planning');
    at(130);
    await watchSla(bench.engine);
    await end(issue);
    expect(await watchSla(bench.engine)).toEqual({ raised: 0, resolved: 1, more: false });
    expect(await open()).toEqual([]);
    expect(await watchSla(bench.engine)).toEqual({ raised: 0, resolved: 0, more: false });
  });

  test('raises the same alert again when the issue breaches in its next state', async () => {
    const issue = await issueIn('planning');
    at(130);
    await watchSla(bench.engine);
    await change(issue, { state: 'in-review', state_entered_at: iso(130) });
    await watchSla(bench.engine);
    at(130 + 240);
    expect(await watchSla(bench.engine)).toMatchObject({ raised: 1 });
    expect(await open()).toMatchObject([{ count: 1, threshold: 240, first_seen_at: iso(370) }]);
  });

  test.each(STATES.filter((state) => state !== 'done'))(
    'a configured limit applies to %s when the repo has only its seeded workflow',
    async (state) => {
      const seven = await makeBench(database.store, { settings: settings({ [state]: 7 }) });
      const issue = await issueIn(state);
      at(6);
      expect(await watchSla(seven.engine)).toMatchObject({ raised: 0 });
      at(7);
      expect(await watchSla(seven.engine)).toMatchObject({ raised: 1 });
      expect(await open()).toMatchObject([{ issue_number: issue, threshold: 7 }]);
    },
  );

  test('resolves open alerts when a reload raises the limit or removes it with null', async () => {
    await issueIn('planning');
    await issueIn('waiting-for-subtasks');
    at(10);
    const tight = await makeBench(database.store, { settings: settings({ planning: 5, 'waiting-for-subtasks': 5 }) });
    expect(await watchSla(tight.engine)).toMatchObject({ raised: 2 });
    const loose = await makeBench(database.store, {
      settings: settings({ planning: 20, 'waiting-for-subtasks': null }),
    });
    expect(await watchSla(loose.engine)).toMatchObject({ raised: 0, resolved: 2 });
    const never = await makeBench(database.store, { settings: settings({ planning: null }) });
    at(100_000);
    expect(await watchSla(never.engine)).toMatchObject({ raised: 0 });
  });

  test("uses the limit of the repo's own workflow version before the configured and the built-in one", async () => {
    const own = {
      ...DEFAULT_WORKFLOW,
      states: DEFAULT_WORKFLOW.states.map((state) => ({
        ...state,
        warnAfterMinutes: state.name === 'planning' ? 30 : null,
      })),
    };
    const configured = await makeBench(database.store, { settings: settings({ planning: 5, 'in-review': 6 }) });
    await sql`update workflow_snapshots set body = ${JSON.stringify(own)}::jsonb`.execute(database.db);
    const limits = [await issueIn('planning'), await issueIn('in-review'), await issueIn('analyzing')];
    at(200);
    await watchSla(configured.engine);
    const thresholds = new Map((await open()).map((alert) => [alert.issue_number, alert.threshold]));
    expect(limits.map((issue) => thresholds.get(issue))).toEqual([30, 6, 120]);
  });

  test('raises none for done and paused issues with any settings', async () => {
    const { engine } = await makeBench(database.store, { settings: settings({ done: 1 }) });
    await issueIn('done');
    await change(await issueIn('planning'), { is_paused: true });
    at(10_000);
    expect(await watchSla(engine)).toEqual({ raised: 0, resolved: 0, more: false });
  });

  test('raises one alert with two concurrent checks', async () => {
    await issueIn('planning');
    at(200);
    await Promise.all([watchSla(bench.engine), watchSla(bench.engine)]);
    expect(await published()).toHaveLength(1);
  });

  test('raises many in batches, oldest first', async () => {
    await sql`
      insert into issues (tenant_id, repo_id, issue_number, title, body, url, state, state_entered_at, host_created_at,
        host_updated_at)
      select ${bench.tenantId}, ${bench.repo.id}, n, '', '', '', 'planning', ${iso(0)}::timestamptz - make_interval(days => n),
        now(), now()
      from generate_series(1, 700) n`.execute(database.db);
    at(200);
    expect(await watchSla(bench.engine)).toMatchObject({ raised: 500, more: true });
    expect((await open()).map((alert) => alert.issue_number ?? 0).sort((a, b) => a - b)[0]).toBe(201);
    expect(await watchSla(bench.engine)).toMatchObject({ raised: 200, more: false });
  });
});

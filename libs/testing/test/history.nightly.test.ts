import { afterEach, expect, test } from '@jest/globals';
import { DEFAULT_WORKFLOW, HOLDS, STATES, type State } from '@pipeline/domain';
import { checkIssueList } from '@pipeline/store';
import { sql } from 'kysely';
import { clearHistory, simulateHistory } from '../src/history/index.ts';
import { WAYS } from '../src/history/ways.ts';
import { testDatabase } from '../src/index.ts';

const database = testDatabase();
const SIZE = { tenants: 2, repos: 5, days: 20, issues: 900, seed: 7, end: new Date('2026-03-10T12:00:00Z') };

const rows = async <T>(statement: string) => (await sql.raw<T>(statement).execute(database.db)).rows;
const none = async (statement: string) => expect(await rows(`${statement} limit 3`)).toEqual([]);

afterEach(() => clearHistory(database.db));

test('a history is consistent in itself, and has every state, flag and hold', async () => {
  const history = await simulateHistory(database.db, { ...SIZE, issues: 2_500 });
  expect(history.tenants).toHaveLength(2);
  expect(new Set(history.repos.map((repo) => repo.slug)).size).toBe(4);
  const [seen] = await rows<Record<'states' | 'holds' | 'flags' | 'tasks' | 'runs' | 'writes', string[]>>(`
    select (select array_agg(distinct state) from issues) as states,
      (select array_agg(distinct held) filter (where held <> 'handover') from tasks) as holds,
      (select array_agg(distinct is_blocked::text || is_paused) from issues) as flags,
      (select array_agg(distinct status) from tasks) as tasks, (select array_agg(distinct status) from runs) as runs,
      (select array_agg(distinct status) from projections) as writes`);
  expect(seen?.states?.sort()).toEqual([...STATES].sort());
  expect(seen?.holds?.sort()).toEqual(HOLDS.filter((hold) => hold !== 'handover').sort());
  expect(seen?.flags).toHaveLength(4);
  expect(seen?.tasks).toHaveLength(2);
  expect(seen?.runs?.sort()).toEqual(['cancelled', 'claimed', 'failed', 'finished', 'lost']);
  expect(seen?.writes).toHaveLength(4);
  // A move begins where the last one ended, and lasted as long as its duration states; the first one begins at the
  // entry.
  await none(`select * from (
    select t.*, lag(to_state, 1, 'new') over w as before,
      extract(epoch from at - coalesce(lag(at) over w, i.created_at)) * 1000 as lasted
    from transitions t join issues i on i.tenant_id = t.tenant_id and i.id = t.issue_id
    window w as (partition by t.tenant_id, t.issue_id order by t.id)
  ) t where from_state <> before or abs(lasted - duration_in_from_ms) > 1`);
  await none(`select i.id from issues i
    left join lateral (select to_state, at from transitions t
      where t.tenant_id = i.tenant_id and t.issue_id = i.id order by t.id desc limit 1) t on true
    where i.state <> coalesce(t.to_state, 'new') or i.state_entered_at <> coalesce(t.at, i.created_at)`);
  await none(
    `select id from transitions where at < '${history.start.toISOString()}' or at >= '${history.end.toISOString()}'`,
  );
  await none(`select i.id from issues i
    left join (select tenant_id, issue_id, sum(cost_usd) as usd from runs group by 1, 2) r
      on r.tenant_id = i.tenant_id and r.issue_id = i.id where i.cost_usd <> coalesce(r.usd, 0)`);
  await none(`select i.id from issues i
    left join (select tenant_id, issue_id, sum(amount_usd) as usd from cost_events group by 1, 2) c
      on c.tenant_id = i.tenant_id and c.issue_id = i.id where i.cost_usd <> coalesce(c.usd, 0)`);
  await none(`select r.id from runs r left join tasks t on t.tenant_id = r.tenant_id and t.run_id = r.id
    where (r.status = 'claimed') <> (t.id is not null) or (r.status = 'claimed') <> (r.finished_at is null)`);
  await none(`select 1 from pipeline_events_default union all select 1 from cost_events_default`);
  for (const { id } of history.tenants) {
    expect(await checkIssueList(database.db, id)).toEqual({ missing: 0, surplus: 0, stale: 0, miscounted: 0 });
  }
});

test('issues go only where the workflow, a person or the host would send them', () => {
  const anywhere = new Set([
    'cancelled',
    'host-closed',
    'host-merged',
    'reimplement',
    'pr-closed',
    'operator',
    'reopened',
  ]);
  const edges = new Set(DEFAULT_WORKFLOW.edges.map(({ from, to, trigger }) => `${from} ${to} ${trigger}`));
  const unknown = (Object.keys(WAYS) as State[]).flatMap((from) =>
    WAYS[from]
      .filter(({ to, trigger }) => to !== 'origin' && !anywhere.has(trigger) && !edges.has(`${from} ${to} ${trigger}`))
      .map(({ to, trigger }) => `${from} ${to} ${trigger}`),
  );
  expect(unknown).toEqual([]);
});

test('returns the same history for the same seed, another for another', async () => {
  const small = { ...SIZE, issues: 20 };
  const historyOf = async (seed: number) => {
    await simulateHistory(database.db, { ...small, seed });
    const moves = await rows<object>(
      'select issue_id - min(issue_id) over () as issue, to_state, at from transitions order by id',
    );
    await clearHistory(database.db);
    return moves;
  };
  const first = await historyOf(1);
  expect(first.length).toBeGreaterThan(50);
  expect(await historyOf(1)).toEqual(first);
  expect(await historyOf(2)).not.toEqual(first);
});

test('numbers each issue once, also in a repo that is much busier than the others', async () => {
  await simulateHistory(database.db, { ...SIZE, repos: 200, issues: 1_200 });
  expect(await rows('select count(*) as n from issues')).toEqual([{ n: 1_200 }]);
});

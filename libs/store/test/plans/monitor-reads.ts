import { beforeAll, describe, expect, test } from '@jest/globals';
import { STATES, type State } from '@pipeline/domain';
import { sql } from 'kysely';
import {
  artefactsOfIssue,
  artefactsOfRun,
  countFound,
  eventsOfIssue,
  findIssues,
  fleetRepos,
  fleetStateCounts,
  type IssueSearch,
  issuesInFlight,
  issueTimeline,
  issueWhy,
  newestRetrospective,
  openAlerts,
  openDeadLettersByRepo,
  operatorScope,
  type Store,
  statusOfIssue,
  timelinesInFlight,
  troubleOfIssue,
} from '../../src/index.ts';
import { database } from './database.ts';
import { scannedBy } from './history.ts';

let issue: { tenant_id: number; repo_id: number; id: number; run_id: number };

beforeAll(async () => {
  const { rows } = await sql<typeof issue>`
    select i.tenant_id, i.repo_id, i.id, r.id as run_id from issues i join runs r on r.issue_id = i.id
    where i.issue_number = 2500 limit 1`.execute(database.db);
  if (!rows[0]) throw new Error('no issue');
  issue = rows[0];
});

const ofIssue = (read: (store: Store, tenantId: number, id: number) => Promise<unknown>) => (store: Store) =>
  read(store, issue.tenant_id, issue.id);
const scope = () => operatorScope({ tenant_id: issue.tenant_id, id: issue.repo_id });
const slug = async () => {
  const { rows } = await sql<{ slug: string }>`
    select slug_key as slug from repos where id = ${issue.repo_id}`.execute(database.db);
  return rows[0]?.slug ?? '';
};

describe('with 100,000 issues and 400,000 events, of one issue', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['its status', ofIssue((store, tenantId, id) => statusOfIssue(store.reads, tenantId, id))],
    ['its failed runs', ofIssue((store, tenantId, id) => troubleOfIssue(store.reads, tenantId, id))],
    [
      'its events',
      ofIssue((store, tenantId, issueId) =>
        eventsOfIssue(store.reads, tenantId, { issueId, since: null, limit: 50, offset: 0 }),
      ),
    ],
    ['its retrospective', ofIssue((store, tenantId, id) => newestRetrospective(store.reads, tenantId, id))],
    ['its artefacts', ofIssue((store, tenantId, id) => artefactsOfIssue(store.reads, tenantId, id))],
    ['the artefacts of a run', (store) => artefactsOfRun(store.db, issue.run_id)],
    ['why it stands', async (store) => issueWhy(store.reads, scope(), await slug(), 2500)],
    [
      'its story',
      async (store) =>
        issueTimeline(store.reads, scope(), { slug: await slug(), number: 2500, limit: 5_000, offset: 0 }),
    ],
  ])('%s is read by an index', async (_what, read) => {
    expect(await scannedBy(database, read)).toEqual([]);
  });

  test('the story has what each table has about it', async () => {
    const query = { slug: await slug(), number: 2500, limit: 5_000, offset: 0 };
    const story = (await issueTimeline(database.store.reads, scope(), query))?.issue;
    const kinds = new Map<string, number>();
    for (const { kind } of story?.entries ?? []) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    expect(Object.fromEntries(kinds)).toEqual({
      transition: 3,
      'agent-run': 2,
      event: 4,
      projection: 2,
      'dead-letter': 1,
    });
  });
});

describe('with 100,000 issues, over all repos', () => {
  const OPEN: State[] = STATES.filter((state) => state !== 'done');
  const all = { tenantId: null, repoId: null, states: OPEN, flags: [], what: null } satisfies IssueSearch;
  const page = { limit: 100, offset: 0, limits: {} };

  test.each<[string, Partial<IssueSearch>]>([
    ['the open ones', {}],
    ['those in a state', { states: ['in-review'] }],
    ['the done ones', { states: ['done'] }],
    ['all', { states: STATES }],
    ['the blocked ones', { flags: ['blocked'] }],
    ['by number', { states: STATES, what: { number: 77 } }],
    ['by title', { states: STATES, what: { text: 'driver of c4ca' } }],
    ['by a title that none has', { states: STATES, what: { text: 'nothing like it' } }],
  ])('%s are found by an index', async (_what, search) => {
    expect(await scannedBy(database, (store) => findIssues(store.db, { ...all, ...search }, page))).toEqual([]);
    const began = performance.now();
    await findIssues(database.store.db, { ...all, ...search }, page);
    expect(performance.now() - began).toBeLessThan(500);
  });

  test('the count of a state is that of its rows', async () => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from issue_list where state = 'in-review' and is_paused`.execute(database.db);
    const search = { ...all, states: ['in-review' as const], flags: ['paused' as const] };
    expect(await countFound(database.store.db, search)).toBe(rows[0]?.n);
    expect(await scannedBy(database, (store) => countFound(store.db, search))).toEqual([]);
  });
});

describe('what the dashboard asks for', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['where issues are', (store) => fleetStateCounts(store.db)],
    ['the repos', (store) => fleetRepos(store.db)],
    ['dead letters', (store) => openDeadLettersByRepo(store.db)],
    ['what is worked on', (store) => issuesInFlight(store.db)],
    ['alerts', (store) => openAlerts(store.db, 500)],
    ['timelines', (store) => timelinesInFlight(store.db, { issues: 50, entries: 21 })],
  ])('%s: no table of the history is read from end to end', async (_what, read) => {
    expect(await scannedBy(database, read)).toEqual([]);
  });

  test('timelines of issues in flight take under 500 ms when one issue has 50,000 more events', async () => {
    const bounds = { issues: 50, entries: 21 };
    const before = await timelinesInFlight(database.store.db, bounds);
    expect(before).toHaveLength(50);
    expect(before.every(({ issue }) => issue.currentState === 'in-review')).toBe(true);
    const newest = before[0];
    if (!newest) throw new Error('no issue is in flight');
    await sql`
      insert into issue_events (tenant_id, issue_id, actor_type, status, state, created_at)
      select i.tenant_id, i.id, 'agent', 'step ' || n, 'in-review', now() + n * interval '1 ms'
      from issues i, generate_series(1, 50000) n
      where i.tenant_id = ${newest.tenantId} and i.repo_id = ${newest.repoId}
        and i.issue_number = ${newest.issue.issueNumber}`.execute(database.db);
    const began = performance.now();
    const after = await timelinesInFlight(database.store.db, bounds);
    expect(performance.now() - began).toBeLessThan(500);
    expect(after.map(({ issue }) => issue.issueNumber)).toEqual(before.map(({ issue }) => issue.issueNumber));
    expect(after[0]?.issue.entries.at(-1)?.title).toBe('step 50000');
    expect(Math.max(...after.map(({ issue }) => issue.entries.length))).toBe(21);
  });

  test('the counters say how many issues there are', async () => {
    const counts = await fleetStateCounts(database.store.db);
    expect(counts.reduce((sum, { n }) => sum + n, 0)).toBe(100_000);
  });
});

test('a table that is read from end to end is noticed', async () => {
  const scan = sql`/* fleet: on purpose */ select count(*) from issues where body like '%nowhere%'`;
  expect(await scannedBy(database, (store) => scan.execute(store.db))).toEqual(['issues']);
});

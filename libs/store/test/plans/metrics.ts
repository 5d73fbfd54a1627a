import { beforeAll, describe, expect, test } from '@jest/globals';
import { AGENT_OF } from '@pipeline/domain';
import { sql } from 'kysely';
import {
  blockedIssues,
  claimsSince,
  countBlockedIssues,
  digestCounts,
  durationEstimates,
  finishedEpics,
  kpiWeeks,
  latestKpis,
  nextFinishedRuns,
  recentErrors,
  releasableIssues,
  repoFigures,
  reposDueForKpis,
  type Store,
  spentInDays,
  troublesOf,
} from '../../src/index.ts';
import { database } from './database.ts';
import { scannedBy } from './history.ts';

let repo: { tenantId: number; repoId: number };

beforeAll(async () => {
  const { rows } = await sql<typeof repo>`
    select tenant_id as "tenantId", id as "repoId" from repos order by id limit 1`.execute(database.db);
  if (!rows[0]) throw new Error('no repo');
  repo = rows[0];
});

const AGENTS = [...new Set(Object.values(AGENT_OF))];
const minuteAgo = () => new Date(Date.now() - 60_000).toISOString();
const dayStart = () => `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`;

/** The first read sets the cursor, the second one reads runs. */
async function finishedRuns(store: Store): Promise<void> {
  const page = { settledMs: 0, limit: 100 };
  await nextFinishedRuns(store.db, page);
  await store.db.updateTable('trace_cursor').set({ finished_at: '2020-01-01T00:00:00.000Z' }).execute();
  expect(await nextFinishedRuns(store.db, page)).toHaveLength(100);
}

describe('with 100,000 issues, 200,000 runs and as many costs', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['blocked issues', (store) => blockedIssues(store.db, 5_000)],
    ['how many there are', (store) => countBlockedIssues(store.db)],
    ['estimates', (store) => durationEstimates(store.db, [{ ...repo, agent: 'developer' }])],
    [
      'the figures of a repo over a week',
      (store) => repoFigures(store.db, repo, { windowDays: 7, dayStart: dayStart() }),
    ],
    ['over a month', (store) => repoFigures(store.db, repo, { windowDays: 30, dayStart: dayStart() })],
    ['its KPIs week by week', (store) => kpiWeeks(store.db, repo.tenantId, repo.repoId)],
    ['which repos are due', (store) => reposDueForKpis(store.db, 3_600_000, 20)],
    ['what the guard found', (store) => latestKpis(store.db)],
    ['issues of the digest', (store) => digestCounts(store.db)],
    ['errors of the digest', (store) => recentErrors(store.db, 50)],
    ['spending of a day', (store) => spentInDays(store.db, 1)],
    ['spending of a month', (store) => spentInDays(store.db, 30)],
    ['waits of new claims', (store) => claimsSince(store.db, { from: minuteAgo(), agents: AGENTS })],
    ['what went wrong in a repo', (store) => troublesOf(store.db, repo)],
    ['issues with nothing left to wait for', (store) => releasableIssues(store.db, 500)],
    ['runs to export as traces', finishedRuns],
    ['epics whose parts have ended', (store) => finishedEpics(store.db, 500)],
  ])('%s: no table of the history is read from end to end', async (_what, read) => {
    expect(await scannedBy(database, read)).toEqual([]);
  });
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import {
  fleetRepos,
  fleetStateCounts,
  issuesInFlight,
  openAlerts,
  openLettersByRepo,
  type Store,
} from '../../src/index.ts';
import { makeHistory, scannedBy } from './history.ts';

const database = testDatabase();
beforeAll(() => makeHistory(database), 240_000);

describe('with 100,000 issues and a million events', () => {
  test.each<[string, (store: Store) => Promise<unknown>]>([
    ['where issues are', (store) => fleetStateCounts(store.fleet)],
    ['the repos', (store) => fleetRepos(store.fleet)],
    ['letters', (store) => openLettersByRepo(store.fleet)],
    ['what is worked on', (store) => issuesInFlight(store.fleet)],
    ['alerts', (store) => openAlerts(store.fleet, 500)],
  ])('%s: no table of the history is read from end to end', async (_what, read) => {
    expect(await scannedBy(database, read)).toEqual([]);
  });

  test('the counters say how many issues there are', async () => {
    const counts = await fleetStateCounts(database.store.fleet);
    expect(counts.reduce((sum, { n }) => sum + n, 0)).toBe(100_000);
  });
});

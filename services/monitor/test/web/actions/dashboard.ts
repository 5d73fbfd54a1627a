import { testDatabase } from '@pipeline/testing';
import { servedDashboard } from '../browser.ts';
import { withOrphan } from './orphan.ts';

/** The dashboard that all tests of the actions use. A bulk action on its history takes three calls. */
export const database = testDatabase();
export const { open, openAnonymous, api, post, address, pipeline } = servedDashboard(database, {
  issues: 260,
  over: (own) => withOrphan(own, database.store),
});

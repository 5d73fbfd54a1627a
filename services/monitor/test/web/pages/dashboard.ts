import { testDatabase } from '@pipeline/testing';
import { servedDashboard } from '../browser.ts';

/** The dashboard that all tests of the pages read. */
export const database = testDatabase();
export const { open, openAnonymous, api, address } = servedDashboard(database);

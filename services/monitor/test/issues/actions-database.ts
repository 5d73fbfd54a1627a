import { testDatabase } from '@pipeline/testing';

/** One database for all tests of actions; each part leaves it empty. */
export const database = testDatabase();

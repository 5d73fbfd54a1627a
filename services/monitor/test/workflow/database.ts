import { testDatabase } from '@pipeline/testing';

/** One database for all tests of this folder; each part leaves it empty. */
export const database = testDatabase();

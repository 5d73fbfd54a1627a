import { beforeAll } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { makeHistory } from './history.ts';

/** The history for all tests of this folder: creating it takes longer than all of them. */
export const database = testDatabase();
beforeAll(() => makeHistory(database), 240_000);

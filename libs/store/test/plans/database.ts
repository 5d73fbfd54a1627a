import { beforeAll } from '@jest/globals';
import { testDatabase } from '@pipeline/testing';
import { makeHistory } from './history.ts';

/** The history that all tests of this folder read: to make it takes longer than all that is asked of it. */
export const database = testDatabase();
beforeAll(() => makeHistory(database), 240_000);

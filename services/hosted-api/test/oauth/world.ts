import { testOauth } from './oauth-world.ts';

/** Two replicas and their store for all tests of this folder. */
export const world = testOauth();

import { IntelligenceWorld } from './intelligence-world.ts';

/** Knowledge of Acme/Shop, for all tests of this folder. */
export const world = new IntelligenceWorld();

import { IntelligenceWorld } from './intelligence-world.ts';

/** What is known of Acme/Shop, for all tests of this folder. */
export const world = new IntelligenceWorld();

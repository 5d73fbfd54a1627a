import type { RequestListener } from 'node:http';
import type { Logger } from '@pipeline/runtime';

/** A service as it is put together anywhere, but for its loops: those run when they are told to. */
export interface Service {
  app: RequestListener;
  /** One round of its loops of these names, as far as it has them. */
  tick(loops: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** What all of them share. */
export interface Surroundings {
  /** Of the store, by the way that is this replica's own. */
  databaseUrl: string;
  now: () => Date;
  log: Logger;
}

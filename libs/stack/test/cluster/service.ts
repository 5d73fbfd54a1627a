import type { RequestListener } from 'node:http';
import type { Logger } from '@pipeline/runtime';

/** A service as in production, except that its loops run only by `tick`. */
export interface Service {
  app: RequestListener;
  /** Runs one round of the named loops that it has. */
  tick(loops: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Common options. */
export interface Surroundings {
  /** URL of the replica's own proxy to the store. */
  databaseUrl: string;
  now: () => Date;
  log: Logger;
}

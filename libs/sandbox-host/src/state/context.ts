import type { Git } from '../git/git.ts';
import type { Deliveries, SandboxLog } from './deliveries.ts';
import type { State } from './state.ts';

/** What every route of the sandbox host works with. */
export interface Sandbox {
  state: State;
  git: Git;
  now: () => Date;
  /** Root of every link in an answer, without a slash at its end. */
  url: () => string;
  deliveries: Deliveries;
  log: SandboxLog;
  /** Requests an hour and token; the next one answers 403. */
  rateLimitPerHour: number;
  /** Runs git-changing work of one repository one after the other. */
  lock: <T>(repoId: number, work: () => Promise<T>) => Promise<T>;
}

/** The host keeps whole seconds. */
export const timestamp = (sandbox: Pick<Sandbox, 'now'>): string =>
  sandbox
    .now()
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z');

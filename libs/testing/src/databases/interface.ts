import type { Db, Store, StoreOptions } from '@pipeline/store';

export interface TestDatabase {
  /**
   * URL of this file's own database, for processes, notifications and raw clients: a service's login, with data rights
   * alone.
   */
  readonly url: string;
  /** The same database with the rights of its owner, which may also create databases: for set-up. */
  readonly adminUrl: string;
  /** Ready to use, closed after the last test. It has a service's rights, and its statements are linted. */
  readonly store: Store;
  /** A store with the rights of the owner, to arrange with functions of the libraries. Its statements are not linted. */
  readonly owner: Store;
  /** Database handle for a test's own statements, to arrange and to check: the owner's rights, not linted. */
  readonly db: Db;
  /** Time that `svc_now()` returns in `store`; null = the present. Set it to hold the time, set it again to step it. */
  readonly clock: { now: Date | null };
  /** Empties the tables and releases the clock: for the next tests of a file that need no rows of the former. */
  clear(): Promise<void>;
  /** Another store on the same database; its opener closes it. */
  open(options?: Partial<StoreOptions>): Store;
  /**
   * Closes something after the last test, latest first, before the check for open connections. (Jest runs a file's own
   * `afterAll` after ours.)
   */
  defer(close: () => Promise<unknown>): void;
}

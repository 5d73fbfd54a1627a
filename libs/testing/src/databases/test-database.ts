import { afterAll, beforeAll } from '@jest/globals';
import { openStore, type ServiceKind, type Store, type StoreOptions } from '@pipeline/store';
import { clearTables } from '../history/clear.ts';
import { closedWithFile } from '../processes/closing.ts';
import { TransactionLint } from '../sql-lint/transaction-rules.ts';
import { borrowDatabase, POOL_SERVER, returnDatabase } from './borrow.ts';
import type { Lent } from './database-pool.ts';
import type { TestDatabase } from './interface.ts';
import { serviceUrl } from './template.ts';

/**
 * Gives a test file a database of its own, cloned from the migrated template before its first test and dropped after
 * its last. Call it once at the top of a file or describe block. After the last test the file fails when a connection
 * is still open, or when a statement of its stores would not run on a distributed store.
 * @param role whose rights `url` and `store` have.
 */
export function testDatabase(role: ServiceKind = 'monitor'): TestDatabase {
  const clock: TestDatabase['clock'] = { now: null };
  let lent: Lent | undefined;
  let store: Store | undefined;
  let plain: Store | undefined;
  const statements = new Set<string>();
  const transactions = new TransactionLint();
  const deferred: (() => Promise<unknown>)[] = [];
  const opened = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the database is there from beforeAll on: use it inside tests and hooks');
    return value;
  };
  const open = (options: Partial<StoreOptions> = {}): Store => {
    const opening = openStore({
      databaseUrl: serviceUrl(opened(lent).url, role),
      applicationName: 'test',
      poolSize: 10,
      statementTimeoutMs: 30_000,
      // A test that holds a transaction open on purpose, on a busy machine, is not idle.
      idleInTransactionMs: 20_000,
      connectTimeoutMs: 30_000,
      clock: () => clock.now,
      onConnectionError: (error) => process.stderr.write(`idle connection of ${lent?.name}: ${error.message}\n`),
      onStatement: (text, session) => {
        statements.add(text);
        transactions.note(session, text);
      },
      ...options,
    });
    closedWithFile(() => opening.close());
    return opening;
  };
  beforeAll(async () => {
    lent = await borrowDatabase(process.env[POOL_SERVER]);
    store = open();
    plain = open({ databaseUrl: lent.url, applicationName: 'test-own', onStatement: undefined });
  });
  afterAll(async () => {
    for (const close of deferred.reverse()) await close();
    await Promise.all([store?.close(), plain?.close()]);
    if (lent === undefined) return;
    const { name } = lent;
    const { leaked, findings } = await returnDatabase(process.env[POOL_SERVER], {
      name,
      statements: [...statements],
    });
    if (leaked.length > 0) throw new Error(`connections were left open:\n${leaked.join('\n')}`);
    const broken = [...findings, ...transactions.findings];
    if (broken.length > 0) throw new Error(`statements break the rules:\n${broken.join('\n')}`);
  });
  return {
    clock,
    open,
    async clear() {
      clock.now = null;
      await clearTables(opened(plain).db);
    },
    defer: (close) => void deferred.push(close),
    get url() {
      return serviceUrl(opened(lent).url, role);
    },
    get adminUrl() {
      return opened(lent).url;
    },
    get store() {
      return opened(store);
    },
    get owner() {
      return opened(plain);
    },
    get db() {
      return opened(plain).db;
    },
  };
}

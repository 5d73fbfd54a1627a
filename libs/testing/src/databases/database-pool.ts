import { sleep } from '@pipeline/runtime';
import pg from 'pg';
import { type Catalogue, readCatalogue } from '../sql-lint/catalogue.ts';
import { OldestPostgres, StatementLinter } from './oldest-postgres.ts';
import { startTestServer, type TestServer } from './postgres-server.ts';
import { databaseUrl, ensureTemplate, serialPool, testDatabaseName } from './template.ts';

export interface Lent {
  name: string;
  url: string;
}

/** A database whose user is done with it, and the statements that it was sent. */
export interface Returned {
  name: string;
  statements: readonly string[];
}

export interface Problems {
  /** Connections that are still open. */
  leaked: string[];
  /** Statements that break the rules of distribution, or that the oldest Postgres does not understand. */
  findings: string[];
}

interface Ready {
  server: TestServer;
  template: string;
  admin: pg.Pool;
  /** A second connection, so that no clone waits for a drop. */
  dropper: pg.Pool;
  oldest: OldestPostgres | null;
  linter: StatementLinter;
}

/** Lends databases, each cloned from the migrated template, on one server for the whole run. */
export class DatabasePool {
  readonly #env: NodeJS.ProcessEnv;
  #server: Promise<TestServer> | undefined;
  #ready: Promise<Ready> | undefined;
  /** Drops in flight: nothing waits for them but the end of the run. */
  readonly #drops = new Set<Promise<unknown>>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
  }

  /** @throws Error when no server can be had, to all that ask. */
  async lend(): Promise<Lent> {
    this.#ready ??= this.#prepare();
    const { server, template, admin } = await this.#ready;
    const name = testDatabaseName();
    // Copied as files, half the price of copying it by the write-ahead log, block by block.
    await admin.query(`create database ${name} template ${template} strategy file_copy`);
    return { name, url: databaseUrl(server.url, name) };
  }

  /** Drops the database beside the tests that follow. @returns the problems of its use. */
  async takeBack({ name, statements }: Returned): Promise<Problems> {
    if (!this.#ready) throw new Error(`${name} was not lent here`);
    const { admin, dropper, linter } = await this.#ready;
    const leaked = await openSessions(admin, name);
    const drop = dropper.query(`drop database if exists ${name} with (force)`);
    this.#drops.add(drop);
    void drop.catch(() => undefined).finally(() => this.#drops.delete(drop));
    return { leaked, findings: await linter.lint(statements) };
  }

  async close(): Promise<void> {
    // A failed start was reported to its caller.
    const ready = await this.#ready?.catch(() => undefined);
    await Promise.allSettled(this.#drops);
    await ready?.admin.end();
    await ready?.dropper.end();
    await ready?.oldest?.close();
    await (await this.#server?.catch(() => undefined))?.stop();
  }

  async #prepare(): Promise<Ready> {
    this.#server = startTestServer(this.#env);
    const server = await this.#server;
    process.stderr.write(`Postgres for tests: ${server.choice}\n`);
    const template = await ensureTemplate(server.url);
    const catalogue = await catalogueOf(databaseUrl(server.url, template));
    const { TEST_OLDEST_DATABASE_URL } = this.#env;
    const oldest = TEST_OLDEST_DATABASE_URL ? await OldestPostgres.open(TEST_OLDEST_DATABASE_URL) : null;
    const linter = new StatementLinter(catalogue, oldest);
    return { server, template, admin: serialPool(server.url), dropper: serialPool(server.url), oldest, linter };
  }
}

/** Reads it before the template is cloned: a database with an open connection cannot be. */
async function catalogueOf(url: string): Promise<Catalogue> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await readCatalogue(client);
  } finally {
    await client.end();
  }
}

/** Sessions of clients that are still there, so no autovacuum; those that are ending get two seconds. */
async function openSessions(admin: pg.Pool, database: string): Promise<string[]> {
  for (let round = 0; ; round += 1) {
    const { rows } = await admin.query<{ line: string }>(
      `select format('%s, %s, last statement: %s', application_name, state, left(query, 200)) as line
       from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
      [database],
    );
    if (rows.length === 0 || round === 100) return rows.map((row) => row.line);
    await sleep(20);
  }
}

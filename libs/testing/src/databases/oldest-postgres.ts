import { withSearchPath } from '@pipeline/store';
import { parse } from 'libpg-query';
import pg from 'pg';
import type { Catalogue } from '../sql-lint/catalogue.ts';
import { STATEMENTS } from '../sql-lint/levels.ts';
import { findingText, lintStatements } from '../sql-lint/statement-rules.ts';
import { databaseUrl, ensureTemplate, execute, serialPool, testDatabaseName } from './template.ts';

/**
 * Errors that do not count against a statement: 42P01 (the table exists only in the database of its test) and class 22
 * (a constant cannot be evaluated, as in tests that provoke a failure).
 */
const IGNORED_SQLSTATES = /^(42P01|22...)$/;

/**
 * A server of the oldest version that must work. It runs no tests: it plans the statements
 * that tests have sent to a newer one.
 */
export class OldestPostgres {
  readonly #pool: pg.Pool;
  readonly #drop: () => Promise<void>;

  private constructor(pool: pg.Pool, drop: () => Promise<void>) {
    this.#pool = pool;
    this.#drop = drop;
  }

  /** Creates a migrated database on that server. @throws the server's error. */
  static async open(serverUrl: string): Promise<OldestPostgres> {
    const name = testDatabaseName();
    await execute(serverUrl, `create database ${name} template ${await ensureTemplate(serverUrl)}`);
    const pool = serialPool(withSearchPath(databaseUrl(serverUrl, name)));
    return new OldestPostgres(pool, () => execute(serverUrl, `drop database ${name} with (force)`));
  }

  /**
   * @returns the error message of the server; null if it accepts the statement, or if the statement cannot be prepared,
   *   such as `begin` and `listen`.
   */
  async findError(text: string): Promise<string | null> {
    if (!(await isPlanned(text))) return null;
    const client = await this.#pool.connect();
    try {
      await client.query(`prepare checked as ${text}`);
      const { rows } = await client.query<{ count: number }>(
        "select cardinality(parameter_types) as count from pg_prepared_statements where name = 'checked'",
      );
      const nulls = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null').join();
      // Forces the plan that is independent of parameter values.
      await client.query('set plan_cache_mode = force_generic_plan');
      await client.query(`explain execute checked${nulls && `(${nulls})`}`);
      return null;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      if (IGNORED_SQLSTATES.test(error.code ?? '')) return null;
      return `rejected by the oldest supported Postgres: ${error.message}`;
    } finally {
      await client.query('deallocate all');
      client.release();
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
    await this.#drop();
  }
}

/** False for text that cannot be parsed; the linter reports it. */
async function isPlanned(text: string): Promise<boolean> {
  const { stmts = [] } = await parse(text).catch(() => ({ stmts: [] }));
  const [kind] = stmts.length === 1 ? Object.keys(stmts[0]?.stmt ?? {}) : [];
  return STATEMENTS.some((known) => known === kind);
}

/** Checks each distinct statement once per process. */
export class StatementLinter {
  readonly #catalogue: Catalogue;
  readonly #oldest: OldestPostgres | null;
  readonly #results = new Map<string, Promise<string[]>>();

  constructor(catalogue: Catalogue, oldest: OldestPostgres | null) {
    this.#catalogue = catalogue;
    this.#oldest = oldest;
  }

  /** @returns findings of these statements, including cached ones. */
  async lint(statements: readonly string[]): Promise<string[]> {
    return (await Promise.all(statements.map((statement) => this.#once(statement)))).flat();
  }

  #once(statement: string): Promise<string[]> {
    const known = this.#results.get(statement) ?? this.#findings(statement);
    this.#results.set(statement, known);
    return known;
  }

  async #findings(statement: string): Promise<string[]> {
    const findings = await lintStatements([statement], this.#catalogue);
    const error = await this.#oldest?.findError(statement);
    return error ? [...findings, findingText(statement, error)] : findings;
  }
}

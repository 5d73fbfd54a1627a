import { withSearchPath } from '@pipeline/store';
import { parse } from 'libpg-query';
import pg from 'pg';
import type { Catalogue } from '../sql-lint/catalogue.ts';
import { STATEMENTS } from '../sql-lint/levels.ts';
import { findingText, lintStatements, type Statement } from '../sql-lint/statement-rules.ts';
import { databaseUrl, ensureTemplate, execute, serialPool, testDatabaseName } from './template.ts';

/**
 * What is not counted against a statement: that it names a table which only the database of its test has, and that its
 * constants cannot be computed (class 22), as where a test provokes a failure.
 */
const BESIDE_THE_POINT = /^(42P01|22...)$/;

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

  /** Makes a migrated database there. @throws the server's error. */
  static async open(serverUrl: string): Promise<OldestPostgres> {
    const name = testDatabaseName();
    await execute(serverUrl, `create database ${name} template ${await ensureTemplate(serverUrl)}`);
    const pool = serialPool(withSearchPath(databaseUrl(serverUrl, name)));
    return new OldestPostgres(pool, () => execute(serverUrl, `drop database ${name} with (force)`));
  }

  /** @returns the server's complaint; null also for what cannot be prepared, such as `begin` and `listen`. */
  async refusal(text: string): Promise<string | null> {
    if (!(await isPlanned(text))) return null;
    const client = await this.#pool.connect();
    try {
      await client.query(`prepare asked as ${text}`);
      const { rows } = await client.query<{ count: number }>(
        "select cardinality(parameter_types) as count from pg_prepared_statements where name = 'asked'",
      );
      const nulls = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null').join();
      // The plan for any values.
      await client.query('set plan_cache_mode = force_generic_plan');
      await client.query(`explain execute asked${nulls && `(${nulls})`}`);
      return null;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error;
      if (BESIDE_THE_POINT.test(error.code ?? '')) return null;
      return `the oldest Postgres refuses it: ${error.message}`;
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

/** The lint reports what cannot be parsed. */
async function isPlanned(text: string): Promise<boolean> {
  const { stmts = [] } = await parse(text).catch(() => ({ stmts: [] }));
  const [kind] = stmts.length === 1 ? Object.keys(stmts[0]?.stmt ?? {}) : [];
  return STATEMENTS.some((known) => known === kind);
}

/** Judges each statement once, however many test files send it. */
export class Judge {
  readonly #catalogue: Catalogue;
  readonly #oldest: OldestPostgres | null;
  readonly #judged = new Map<string, Promise<string[]>>();

  constructor(catalogue: Catalogue, oldest: OldestPostgres | null) {
    this.#catalogue = catalogue;
    this.#oldest = oldest;
  }

  /** @returns what is wrong with these statements, also with those that were judged before. */
  async judge(statements: readonly Statement[]): Promise<string[]> {
    return (await Promise.all(statements.map((statement) => this.#once(statement)))).flat();
  }

  #once(statement: Statement): Promise<string[]> {
    const key = `${statement.pool} ${statement.text}`;
    const known = this.#judged.get(key) ?? this.#findings(statement);
    this.#judged.set(key, known);
    return known;
  }

  async #findings(statement: Statement): Promise<string[]> {
    const findings = await lintStatements([statement], this.#catalogue);
    const refusal = await this.#oldest?.refusal(statement.text);
    return refusal ? [...findings, findingText(statement, refusal)] : findings;
  }
}

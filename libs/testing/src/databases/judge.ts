import { type Catalogue, findingText, lintStatements, type Statement } from '../sql-lint/index.ts';
import type { OldestPostgres } from './oldest-postgres.ts';

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

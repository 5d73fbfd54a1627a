import { parse } from 'libpg-query';
import type { Catalogue } from './catalogue.ts';
import { judge, type Statement } from './statement-rules.ts';

export { type Catalogue, readCatalogue } from './catalogue.ts';
export { lintSchema } from './schema-rules.ts';
export type { Statement } from './statement-rules.ts';

/**
 * Holds statements to the rules of a distributed store, with Postgres's own parser.
 * @returns one entry per breach, with the statement.
 */
export async function lintStatements(statements: Iterable<Statement>, catalogue: Catalogue): Promise<string[]> {
  const findings: string[] = [];
  for (const statement of statements) {
    for (const finding of await lintOne(statement, catalogue)) {
      findings.push(`[${statement.pool}] ${finding}\n    ${statement.text.replace(/\s+/g, ' ').trim().slice(0, 400)}`);
    }
  }
  return findings;
}

/** Judges each statement once, however many test files send it. */
export class StatementLint {
  readonly #catalogue: Catalogue;
  readonly #judged = new Map<string, Promise<string[]>>();

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** @returns the breaches of all these statements, also of those that were judged before. */
  async judge(statements: readonly Statement[]): Promise<string[]> {
    return (await Promise.all(statements.map((statement) => this.#findings(statement)))).flat();
  }

  #findings(statement: Statement): Promise<string[]> {
    const key = `${statement.pool} ${statement.text}`;
    const known = this.#judged.get(key) ?? lintStatements([statement], this.#catalogue);
    this.#judged.set(key, known);
    return known;
  }
}

async function lintOne(statement: Statement, catalogue: Catalogue): Promise<string[]> {
  let stmts: { stmt?: unknown }[];
  try {
    ({ stmts = [] } = await parse(statement.text));
  } catch (error) {
    return [`cannot be parsed: ${String(error)}`];
  }
  return stmts.flatMap(({ stmt }) => judge(stmt, statement, catalogue));
}

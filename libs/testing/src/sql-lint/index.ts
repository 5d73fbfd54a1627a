import { parse } from 'libpg-query';
import type { Catalogue } from './catalogue.ts';
import { judge, type Statement } from './statement-rules.ts';

export { type Catalogue, readCatalogue } from './catalogue.ts';
export { lintSchema } from './schema-rules.ts';
export type { Statement } from './statement-rules.ts';
export { STATEMENTS } from './tree.ts';

/**
 * Holds statements to the rules of a distributed store, with Postgres's own parser.
 * @returns one entry per breach, with the statement.
 */
export async function lintStatements(statements: Iterable<Statement>, catalogue: Catalogue): Promise<string[]> {
  const findings: string[] = [];
  for (const statement of statements) {
    for (const finding of await lintOne(statement, catalogue)) findings.push(findingText(statement, finding));
  }
  return findings;
}

/** A finding with its statement, as people read it. */
export const findingText = ({ pool, text }: Statement, finding: string): string =>
  `[${pool}] ${finding}\n    ${text.replace(/\s+/g, ' ').trim().slice(0, 400)}`;

async function lintOne(statement: Statement, catalogue: Catalogue): Promise<string[]> {
  let stmts: { stmt?: unknown }[];
  try {
    ({ stmts = [] } = await parse(statement.text));
  } catch (error) {
    return [`cannot be parsed: ${String(error)}`];
  }
  return stmts.flatMap(({ stmt }) => judge(stmt, statement, catalogue));
}

import { AppError } from '@pipeline/domain';
import { type Document, type ErrorCode, LineCounter, parseDocument, visit } from 'yaml';

/** What is wrong, by the code of the parser. */
const PROBLEMS: Partial<Record<ErrorCode, string>> = {
  BAD_DQ_ESCAPE: 'a backslash in double quotes begins no known character',
  BAD_INDENT: 'the indentation does not match the lines around it, or a bracket or brace is not closed',
  BAD_SCALAR_START: 'the value begins with a character that needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a key and value stand where only a value may; check the indentation and the colons',
  BLOCK_IN_FLOW: 'an indented block stands inside brackets or braces',
  DUPLICATE_KEY: 'the key is there twice',
  MISSING_CHAR: 'a closing quote, the colon after a key or the - of a list is missing',
  MULTILINE_IMPLICIT_KEY: 'a key runs over several lines, or its colon is missing',
  MULTIPLE_DOCS: 'the file holds several documents; --- begins a second one',
  TAB_AS_INDENT: 'a line begins with a tab; indent with spaces',
  UNEXPECTED_TOKEN: 'a character stands where none is expected',
};

/**
 * Parses YAML. @returns null for text without content.
 * @throws AppError CONFIG_LOAD_FAILED, one line for each problem, with its line and the key there.
 */
export function parseYaml(text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => placeIn(text, lines.linePos(offset).line);
  const problems = document.errors.map(({ code, pos }) => `${at(pos[0])}: ${PROBLEMS[code] ?? 'is not valid YAML'}`);
  if (problems.length > 0) throw new AppError('CONFIG_LOAD_FAILED', [...new Set(problems)].join('\n'));
  try {
    return document.toJS();
  } catch (cause) {
    throw new AppError('CONFIG_LOAD_FAILED', aliasProblem(document, at), { cause });
  }
}

/** The one problem that shows only when values are made. */
function aliasProblem(document: Document, at: (offset: number) => string): string {
  let problem = 'the file holds more aliases than a configuration needs';
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document)) return;
      problem = `${at(alias.range?.[0] ?? 0)}: the alias *${alias.source} has no anchor`;
      return visit.BREAK;
    },
  });
  return problem;
}

const KEY = /(?:^|[\s{,])["']?([\w.-]{1,100})["']?\s{0,10}:(?:\s|$)/g;

/** The line with the last key on it, or on one above it. */
function placeIn(text: string, line: number): string {
  const above = text.split('\n').slice(0, line);
  const key = above.map((one) => [...one.matchAll(KEY)].at(-1)?.[1]).findLast((found) => found !== undefined);
  return key === undefined ? `line ${line}` : `line ${line}, at "${key}"`;
}

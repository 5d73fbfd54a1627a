/**
 * Proves that regular expressions cost linear time in the length of their text, whatever the text is. A proof takes up
 * to some seconds, so proven patterns are kept in linear-patterns.generated.json; any other is proven when it is met.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type FoundPattern, patternsOf } from './regular-expressions.ts';
import { ROOT, repositoryFiles } from './workspace.ts';

// recheck picks a native program where one is installed; the pure build gives the same verdict on every machine.
process.env.RECHECK_SYNC_BACKEND = 'pure';
const require = createRequire(import.meta.url);
const { checkSync } = require('recheck') as typeof import('recheck');
const { version } = require('recheck/package.json') as { version: string };

export const PROVEN_FILE = join(import.meta.dirname, 'linear-patterns.generated.json');

interface Proven {
  recheck: string;
  patterns: string[];
}

export interface SourcePattern extends FoundPattern {
  path: string;
}

/** Sources that run in production or in tests' own programs; tests themselves read no text of strangers. */
const isChecked = (path: string): boolean =>
  /^(libs|services)\/[^/]+\/src\/.*\.ts$/.test(path) &&
  !path.endsWith('.test.ts') &&
  !GIVEN_BY_DEVELOPERS.some((prefix) => path.startsWith(prefix));

/** Sources whose patterns a developer gives: on the command line of the tests, or in the declared contract. */
const GIVEN_BY_DEVELOPERS = ['libs/testing/src/jest/', 'libs/contract-tests/src/property/value-arbitrary.ts'];

/** Every regular expression of libs/ and services/. */
export const sourcePatterns = (): SourcePattern[] =>
  repositoryFiles()
    .filter(isChecked)
    .flatMap((path) => patternsOf(readFileSync(join(ROOT, path), 'utf8')).map((found) => ({ ...found, path })));

export const keyOf = ({ source, flags }: FoundPattern): string => `/${source}/${flags}`;

/** Patterns that this version of the checker has proven linear. */
export function readProven(): Set<string> {
  const proven = JSON.parse(readFileSync(PROVEN_FILE, 'utf8')) as Proven;
  return new Set(proven.recheck === version ? proven.patterns : []);
}

export const formatProven = (patterns: readonly string[]): string =>
  `${JSON.stringify({ recheck: version, patterns: [...new Set(patterns)].sort() } satisfies Proven, null, 2)}\n`;

/** Large automata take minutes; above this size recheck searches for an attack instead, from a fixed seed. */
const MAX_NFA_SIZE = 5_000;

/** Describes the problem of a pattern: null = linear. */
export function problemOf({ source, flags }: FoundPattern): string | null {
  if (source === null) return 'is computed; write it as a literal or from constants, so that it can be checked';
  const verdict = checkSync(source, flags, { timeout: 300_000, maxNFASize: MAX_NFA_SIZE, randomSeed: 0 });
  if (verdict.status === 'safe') return null;
  if (verdict.status === 'unknown') return `could not be checked: ${verdict.error.kind}`;
  return `is ${verdict.complexity.summary}: slow on ${verdict.attack.pattern}`;
}

/** One line for each pattern that is not proven linear, with its origin. */
export function brokenPatterns(patterns: readonly SourcePattern[], proven: ReadonlySet<string>): string[] {
  const checked = new Map<string, string | null>();
  return patterns.flatMap((pattern) => {
    const key = keyOf(pattern);
    if (proven.has(key) && pattern.source !== null) return [];
    const problem = checked.has(key) ? (checked.get(key) ?? null) : problemOf(pattern);
    if (pattern.source !== null) checked.set(key, problem);
    return problem === null ? [] : [`${pattern.path}:${pattern.line} ${key} ${problem}`];
  });
}

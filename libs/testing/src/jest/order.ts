import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'jest-runner';

const PART = /^import '(\.\/[^']+)';$/gm;

/**
 * Orders test files that have never run, which Jest knows no durations of: those with the most text first. What a file
 * imports for its tests alone is a part of it. Jest counts the file without its parts and would begin long ones last.
 * @returns the tests as Jest ordered them when it knows durations.
 */
export function longestFirst(tests: readonly Test[]): readonly Test[] {
  if (tests.some(({ duration }) => duration !== undefined)) return tests;
  const sizes = new Map(tests.map((test) => [test, sizeOf(test.path)]));
  return tests.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
}

function sizeOf(path: string): number {
  const text = readFileSync(path, 'utf8');
  const parts = [...text.matchAll(PART)].map(([, name = '']) => readFileSync(join(dirname(path), name), 'utf8'));
  return [text, ...parts].reduce((size, { length }) => size + length, 0);
}

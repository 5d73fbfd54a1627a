import { describe, expect, test } from '@jest/globals';
import { ROWS } from '../src/rows/all.ts';
import { missingPrograms } from '../src/runner/programs.ts';

describe('missingPrograms', () => {
  const [get] = ROWS.filter(({ goal }) => goal === 1);
  const [start] = ROWS.filter(({ goal }) => goal === 14);
  if (get === undefined || start === undefined) throw new Error('no goals 1 and 14');

  test('names each missing program with its package and the goals that need it', () => {
    expect(missingPrograms([get, start], (name) => name === 'pgbench')).toEqual([
      'wrk is missing (Debian: apt-get install wrk); goals 1 need it',
    ]);
  });

  test('returns nothing when the rows need no program, or every program runs', () => {
    expect(missingPrograms([start], () => false)).toEqual([]);
    expect(missingPrograms(ROWS, () => true)).toEqual([]);
  });
});

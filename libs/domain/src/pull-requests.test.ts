import { describe, expect, test } from '@jest/globals';
import { revertedBy } from './pull-requests.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const of = (body: string) => revertedBy(body, { owner: 'Acme', name: 'Shop' });

describe('what a pull request takes back', () => {
  test.each([
    ['Reverts acme/shop#12', [12]],
    ['reverts #12 and Reverts ACME/Shop#13.', [12, 13]],
    ['Reverts other/repo#12', []],
    ['Unreverts #12; reverts12', []],
    ['', []],
  ])('%s', (body, numbers) => {
    expect(of(body)).toEqual({ numbers, shas: [] });
  });

  test('commits by their whole hash', () => {
    expect(of(`Revert "x"\n\nThis reverts commit ${SHA.toUpperCase()}.`)).toEqual({ numbers: [], shas: [SHA] });
    expect(of('This reverts commit 0123456.').shas).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';
import { isOpenedBy, linkedIssueNumber, revertedBy } from './pull-requests.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const of = (body: string) => revertedBy(body, { owner: 'Acme', name: 'Shop' });

describe('a pull request', () => {
  const repo = { owner: 'Acme', name: 'Shop' };
  const own = { headRepo: 'acme/shop', author: 'Pipeline-Bot' };

  test.each([
    ['the pipeline, whatever the letter case', own, true],
    ['a deleted user', { ...own, author: null }, false],
    ['another person', { ...own, author: 'mallory' }, false],
    ['the pipeline in a fork', { ...own, headRepo: 'mallory/shop' }, false],
    ['the pipeline in a fork that was deleted', { ...own, headRepo: null }, false],
  ])('a pull request of %s is own work: %p -> %p', (_who, pull, expected) => {
    expect(isOpenedBy(['pipeline-bot'], pull, repo)).toBe(expected);
  });

  test.each([
    ['svc/issue-7', '', true, 7],
    ['svc/issue-7', '', false, null],
    ['svc/issue-7', 'Fixes #8', false, 8],
    ['patch-1', 'Fixes #8', true, 8],
    ['svc/issue-7x', '', true, null],
  ])('a pull request on %s with the text "%s" and own = %p is linked to %p', (headRef, body, isOwn, expected) => {
    expect(linkedIssueNumber({ headRef, body }, isOwn)).toBe(expected);
  });
});

describe('the reverts of a pull request', () => {
  test.each([
    ['Reverts acme/shop#12', [12]],
    ['reverts #12 and Reverts ACME/Shop#13.', [12, 13]],
    ['Reverts other/repo#12', []],
    ['Unreverts #12; reverts12', []],
    ['', []],
  ])('%s', (body, numbers) => {
    expect(of(body)).toEqual({ numbers, shas: [] });
  });

  test('name commits by their full hash', () => {
    expect(of(`Revert "x"\n\nThis reverts commit ${SHA.toUpperCase()}.`)).toEqual({ numbers: [], shas: [SHA] });
    expect(of('This reverts commit 0123456.').shas).toEqual([]);
  });
});

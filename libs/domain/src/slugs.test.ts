import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AppError } from './errors.ts';
import {
  formatIssueRef,
  formatSlug,
  MAX_ISSUE_NUMBER,
  parseIssueNumber,
  parseIssueRef,
  parseSlug,
  requireSlug,
  slugKey,
} from './slugs.ts';

const segment = fc.stringMatching(/^[A-Za-z0-9._-]{1,100}$/).filter((text) => text !== '.' && text !== '..');
const slugs = fc.record({ owner: segment, name: segment });
const numbers = fc.integer({ min: 1, max: MAX_ISSUE_NUMBER });
const home = { owner: 'acme', name: 'shop' };

describe('slugs', () => {
  test('parses slugs as formatted, and compares them case-insensitively', () => {
    fc.assert(
      fc.property(slugs, (slug) => {
        expect(parseSlug(formatSlug(slug))).toEqual(slug);
        expect(slugKey(slug)).toBe(slugKey({ owner: slug.owner.toUpperCase(), name: slug.name.toLowerCase() }));
      }),
    );
  });

  test.each([
    '',
    'a',
    'a/',
    '/b',
    'a/b/c',
    'a b/c',
    'a/b?',
    'a/b#1',
    'a/..',
    '../b',
    'a/.',
    'ä/b',
    `a/${'b'.repeat(101)}`,
    null,
    5,
  ])('%j is none, and is refused with the form expected', (value) => {
    expect(parseSlug(value)).toBeNull();
    expect(() => requireSlug(value)).toThrow(AppError);
    expect(() => requireSlug(value)).toThrow(/must be owner\/name/);
  });

  test('a slug is always safe in a path', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const slug = parseSlug(text);
        if (slug) expect(new URL(`http://h/${formatSlug(slug)}/x`).pathname).toBe(`/${text}/x`);
      }),
    );
  });
});

describe('issue numbers and references', () => {
  test('reads numbers and references as they are written', () => {
    fc.assert(
      fc.property(slugs, numbers, (repo, number) => {
        expect(parseIssueNumber(String(number))).toBe(number);
        expect(parseIssueRef(formatIssueRef(repo, number), home)).toEqual({ repo, number });
        expect(parseIssueRef(` #${number} `, home)).toEqual({ repo: home, number });
      }),
    );
  });

  test.each(['', '0', '-1', '+1', '01', '1.0', '1e3', '0x1', ' 1', '٣', '12345678901', '2147483648'])(
    '%j is no issue number',
    (text) => {
      expect(parseIssueNumber(text)).toBeNull();
    },
  );

  test.each(['', '12', '#', '#0', 'a#1', 'a/b#', 'a/b#1#2', 'a/b/c#1', 'https://h/a/b#1'])(
    '%j is no reference',
    (text) => {
      expect(parseIssueRef(text, home)).toBeNull();
    },
  );
});

import { describe, expect, test } from '@jest/globals';
import { referringBody } from './referring-body.ts';

describe('the text of a pull request', () => {
  test.each([
    'Fixes #7',
    'closes: #7',
    'Resolved acme/shop#7',
    'fix GH-7',
    'Closes https://github.com/acme/shop/issues/7',
  ])('%j never closes the issue at the merge', (body) => {
    expect(referringBody(body, 7)).not.toMatch(/\b(fix|close|resolve)/i);
  });

  test('refers to its issue once', () => {
    expect(referringBody('Refs #7', 7)).toBe('Refs #7');
    expect(referringBody('Tidy up.', 7)).toBe('Tidy up.\n\nRefs #7');
  });
});

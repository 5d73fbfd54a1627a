import { expect, test } from '@jest/globals';
import { FindingInput, withinPage } from './finding.ts';

const finding = {
  findingType: 'risk',
  category: 'c',
  severity: 'low',
  title: 't',
  summary: 's',
};

test('a finding is refused when it has more than 64 KiB, counted in octets', () => {
  const ofSize = (letters: number, letter: string) =>
    FindingInput.safeParse({ ...finding, metadata: { text: letter.repeat(letters) } }).success;
  expect(ofSize(60_000, 'a')).toBe(true);
  expect(ofSize(66_000, 'a')).toBe(false);
  expect(ofSize(33_000, 'ä')).toBe(false);
});

test('a page of findings ends at 1 MiB, and has at least one', () => {
  const large = { text: 'x'.repeat(60_000) };
  expect(withinPage(Array.from({ length: 200 }, () => large))).toHaveLength(17);
  expect(withinPage([{ text: 'x'.repeat(2_000_000) }, large])).toHaveLength(1);
  expect(withinPage([large, large])).toHaveLength(2);
});

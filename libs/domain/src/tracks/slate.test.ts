import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seedIssue } from './seed-text.ts';
import { type Seed, Slate, seedsOf, slateTotal } from './track.ts';

const seed = (over: Partial<Seed> = {}): Seed => ({ size: 'small', theme: null, label: null, part: 1, of: 1, ...over });
const PROMPT = { version: 3, seed_title: 'Tidy up', seed_body: 'Please.\n' };

describe('a slate', () => {
  const entry = fc.record(
    {
      size: fc.constantFrom('small', 'medium', 'large', 'epic'),
      count: fc.integer({ min: 1, max: 50 }),
      theme: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    },
    { requiredKeys: ['size', 'count'] },
  );
  const slates = fc.array(entry, { minLength: 1, maxLength: 10 }) as fc.Arbitrary<Slate>;

  test('fills a slate from its first entry on, as far as slots are free', () => {
    fc.assert(
      fc.property(slates, fc.nat({ max: 600 }), (slate, places) => {
        const all = seedsOf(slate, slateTotal(slate));
        const some = seedsOf(slate, places);
        expect(all).toHaveLength(slateTotal(slate));
        expect(some.map(({ size, theme }) => [size, theme])).toEqual(
          all.slice(0, places).map(({ size, theme }) => [size, theme]),
        );
        expect(some.filter(({ part, of }) => part < 1 || part > of)).toEqual([]);
      }),
    );
  });

  test('accepts labels of people and those that the pipeline reads, not those that it writes', () => {
    const of = (label: string) => Slate.safeParse([{ size: 'small', count: 1, label }]).success;
    expect(['tests', 'svc:urgent', 'svc:enqueue', 'svc:done', 'svc:paused'].map(of)).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });
});

describe('the issue of a seed', () => {
  const issue = (over: Partial<Seed> = {}, prompt = PROMPT, label = '') =>
    seedIssue({ track: 'tidy', label, prompt, seed: seed(over) });

  test('the issue has the texts of the prompt, and its origin', () => {
    expect(issue()).toEqual({
      title: 'Tidy up',
      body: 'Please.\n\n---\nFrom the track tidy: size small, prompt version 3.',
      labels: [],
    });
    expect(issue({ theme: 'the cart', part: 2, of: 3 })).toMatchObject({
      title: 'Tidy up: the cart (2/3)',
      body: expect.stringContaining('size small, about the cart, prompt'),
    });
  });

  test('the issue is named after its track when the prompt has no texts', () => {
    expect(issue({}, { version: 1, seed_title: ' ', seed_body: '' })).toMatchObject({
      title: 'tidy',
      body: 'From the track tidy: size small, prompt version 1.',
    });
  });

  test('the issue has each label once', () => {
    expect(issue({ label: 'cart' }, PROMPT, 'tidy').labels).toEqual(['tidy', 'cart']);
    expect(issue({ label: 'tidy' }, PROMPT, 'tidy').labels).toEqual(['tidy']);
  });

  test("keeps its number when the title is cut to the host's limit", () => {
    const { title } = issue({ theme: 'x'.repeat(300), part: 9, of: 10 });
    expect(title).toHaveLength(256);
    expect(title).toMatch(/^Tidy up: x+ \(9\/10\)$/);
  });
});

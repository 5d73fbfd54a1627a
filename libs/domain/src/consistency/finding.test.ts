import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CONSISTENCY_KINDS, type ConsistencyRef, formatConsistencyId, parseConsistencyId } from './finding.ts';

const segment = fc.stringMatching(/^[A-Za-z0-9._-]{1,100}$/).filter((text) => text !== '.' && text !== '..');
const refs: fc.Arbitrary<ConsistencyRef> = fc.record({
  kind: fc.constantFrom(...CONSISTENCY_KINDS),
  repo: fc.record({ owner: segment, name: segment }),
  issueNumber: fc.option(fc.integer({ min: 1, max: 2_147_483_647 })),
  tenant: fc.option(fc.string({ minLength: 1, unit: 'grapheme' })),
});

describe('ids of consistency findings', () => {
  test('an id has the shape that the interface gives', () => {
    const repo = { owner: 'Acme', name: 'shop' };
    const ref = { kind: 'stale_blocked' as const, repo, issueNumber: 7, tenant: null };
    expect(formatConsistencyId(ref)).toBe('stale_blocked:Acme/shop#7');
    expect(formatConsistencyId({ ...ref, tenant: 'org-1' })).toBe('stale_blocked:Acme/shop#7@org-1');
    expect(formatConsistencyId({ ...ref, issueNumber: null })).toBe('stale_blocked:Acme/shop');
  });

  test('parses ids as formatted, with any tenant name', () => {
    fc.assert(fc.property(refs, (ref) => expect(parseConsistencyId(formatConsistencyId(ref))).toEqual(ref)));
  });

  test('each finding has its own id', () => {
    fc.assert(
      fc.property(refs, refs, (one, other) => {
        const same = formatConsistencyId(one) === formatConsistencyId(other);
        expect(same).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  test('formats ids as parsed', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const id = `label_drift:${text}`;
        const ref = parseConsistencyId(id);
        if (ref) expect(formatConsistencyId(ref)).toBe(id);
      }),
    );
  });

  test.each([
    '',
    'stale_blocked',
    'stale_blocked:',
    'stale_blocked:acme',
    'stale_blocked:acme/shop/x#1',
    'stale_blocked:acme/shop#',
    'stale_blocked:acme/shop#0',
    'stale_blocked:acme/shop#01',
    'stale_blocked:acme/shop#2147483648',
    'stale_blocked:acme/shop#9999999999',
    'stale_blocked:acme/shop#1@',
    'stale_blocked:acme/shop#1#2',
    'stale_blocked:../shop#1',
    'Stale_blocked:acme/shop#1',
    'stolen_blocked:acme/shop#1',
    'constructor:acme/shop#1',
    ' stale_blocked:acme/shop#1',
  ])('%j is none', (text) => {
    expect(parseConsistencyId(text)).toBeNull();
  });
});

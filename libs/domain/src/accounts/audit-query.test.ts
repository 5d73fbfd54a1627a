import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type AuditCursor,
  auditBound,
  compareAudit,
  formatAuditCursor,
  parseAuditCursor,
  parseAuditTarget,
} from './audit-query.ts';

const AT = '2026-03-01T10:00:00.000000Z';
const cursors = fc.record({
  at: fc.constantFrom(AT, '2026-03-01T10:00:00.000001Z', '2026-03-02T00:00:00.000000Z'),
  source: fc.constantFrom('event' as const, 'log' as const),
  id: fc.nat(3),
});

describe('the cursor of the audit', () => {
  test('reads a cursor back as it was written', () => {
    fc.assert(fc.property(cursors, (cursor) => expect(parseAuditCursor(formatAuditCursor(cursor))).toEqual(cursor)));
  });

  test.each([
    '',
    'x',
    `${AT}~event`,
    `${AT}~other~1`,
    `${AT}~log~-1`,
    '2026-02-31T10:00:00.000000Z~log~1',
    `${AT}~log~1~2`,
  ])('returns null for %j', (text) => {
    expect(parseAuditCursor(text)).toBeNull();
  });

  test('bounds each source to the entries that follow it when it is of either source', () => {
    const isWithin = ({ at, id }: AuditCursor, bound: { at: string; id: number }) =>
      at < bound.at || (at === bound.at && id < bound.id);
    fc.assert(
      fc.property(cursors, cursors, (entry, cursor) => {
        fc.pre(entry.id > 0);
        expect(isWithin(entry, auditBound(cursor, entry.source))).toBe(compareAudit(cursor, entry) < 0);
      }),
    );
  });
});

describe('a target of the audit', () => {
  test.each([
    ['acme/shop', { owner: 'acme', name: 'shop', issue: null }],
    ['acme/shop#7', { owner: 'acme', name: 'shop', issue: 7 }],
  ])('returns the repo and issue when it is %s', (text, target) => {
    expect(parseAuditTarget(text)).toEqual(target);
  });

  test.each(['user anna', 'acme/shop#', 'acme/shop#0', 'acme/shop#7#8', 'acme/shop#99999999999', ''])(
    'returns null when it is %j',
    (text) => {
      expect(parseAuditTarget(text)).toBeNull();
    },
  );
});

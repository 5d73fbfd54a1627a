import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { buildListItem, type IssueListItem, MAX_INDEXED_OCTETS, shorten } from './issue-list.ts';

const plain: IssueListItem = {
  issueNumber: 7,
  title: 'Add a table of contents',
  url: 'https://host.test/acme/shop/issues/7',
  state: 'in-review',
  isBlocked: false,
  isPaused: false,
  blockReason: null,
  blockClassification: null,
  stateEnteredAt: '2026-01-02T03:04:05.678Z',
  currentStatus: 'reading the diff',
  activeTaskType: 'review',
  assignedAgent: 'reviewer',
  prNumber: 9,
  labels: ['svc:in-review', 'docs'],
  parentIssueNumber: null,
  dependsOn: [3],
  costUsd: 0.25,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T03:04:05.678Z',
};

describe('the stored body of a list row', () => {
  test('is the item of the wire, and small', () => {
    const { body, big } = buildListItem(plain);
    expect(JSON.parse(body)).toEqual(plain);
    expect(big).toBe(false);
  });

  test('carries nothing but the documented fields, whatever row it is built from', () => {
    const row = { ...plain, tenantId: 5, lastError: 'secret' };
    expect(Object.keys(JSON.parse(buildListItem(row).body))).toEqual(Object.keys(plain));
  });

  test('caps what people and agents can make long', () => {
    const item = JSON.parse(
      buildListItem({
        ...plain,
        title: 't'.repeat(300),
        currentStatus: 's'.repeat(300),
        labels: Array.from({ length: 100 }, (_, index) => `label-${index}`),
        dependsOn: Array.from({ length: 50 }, (_, index) => index + 1),
      }).body,
    );
    expect([item.title.length, item.currentStatus.length]).toEqual([256, 160]);
    expect([item.labels.length, item.dependsOn.length]).toEqual([20, 20]);
    expect(item.labels[19]).toBe('label-19');
  });

  test('is never marked small when it is too long for the index, counted in octets and not in characters', () => {
    const wide = buildListItem({ ...plain, title: '界'.repeat(250), currentStatus: '界'.repeat(160), labels: [] });
    expect(wide.body.length).toBeLessThan(MAX_INDEXED_OCTETS - 900);
    expect(wide.big).toBe(false);
    const wider = buildListItem({
      ...plain,
      title: '界'.repeat(256),
      currentStatus: '界'.repeat(160),
      labels: ['界'.repeat(200)],
    });
    expect(wider.body.length).toBeLessThan(MAX_INDEXED_OCTETS);
    expect(wider.big).toBe(true);
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 100 }), { maxLength: 40 }), (labels) => {
        const { body, big } = buildListItem({ ...plain, labels });
        expect(big).toBe(new TextEncoder().encode(body).length > 2_000);
      }),
    );
  });

  test('is valid JSON of well-formed text wherever a title is cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (title) => {
        const item = JSON.parse(buildListItem({ ...plain, title }).body);
        expect(item.title.isWellFormed()).toBe(true);
      }),
    );
    expect(JSON.parse(buildListItem({ ...plain, title: '🙂'.repeat(300) }).body).title).toBe(`${'🙂'.repeat(255)}…`);
  });
});

test('text is shortened to the number of characters asked for, and only when it is longer', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), fc.integer({ min: 1, max: 40 }), (text, max) => {
      const short = shorten(text, max);
      const length = Array.from(text).length;
      expect(Array.from(short).length).toBe(Math.min(length, max));
      if (length <= max) expect(short).toBe(text);
      else expect(text.startsWith(short.slice(0, -1))).toBe(true);
    }),
  );
});

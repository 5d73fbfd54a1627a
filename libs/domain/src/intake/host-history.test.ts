import { describe, expect, test } from '@jest/globals';
import type { HistoryEvent } from '../vcs/host.ts';
import { compareStamps, findRequest, textEditors, textHash } from './host-history.ts';

const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`;

let ids = 0;
const entry = (kind: HistoryEvent['kind'], second: number, more: Partial<HistoryEvent> = {}): HistoryEvent => {
  ids += 1;
  return { id: ids, kind, label: null, actor: 'anna', at: at(second), ...more };
};
const enqueue = (second: number, actor: string | null = 'anna') =>
  entry('labeled', second, { label: 'svc:enqueue', actor });
const request = (events: HistoryEvent[], acted: string | null, eventId: number | null = null) =>
  findRequest(events, new Set(['anna', 'ben']), { at: acted, eventId });

describe('a request to work on an issue that is done', () => {
  test('the newest reopening or label after the last applied event is the request', () => {
    const events = [entry('closed', 10), entry('reopened', 20), enqueue(30)];
    expect(request(events, at(10))).toBe(events[2]);
    expect(request(events, at(30))).toBeNull();
  });

  test('an event of the pipeline itself, of another label, or of a deleted account is never a request', () => {
    const others = [
      entry('reopened', 20, { actor: 'Pipeline[bot]' }),
      entry('labeled', 21, { label: 'bug' }),
      entry('unlabeled', 22, { label: 'svc:enqueue' }),
      enqueue(23, null),
    ];
    expect(request([entry('closed', 10), ...others], at(10))).toBeNull();
  });

  test('does not count when a person closed the issue after it', () => {
    expect(request([entry('closed', 10), entry('reopened', 20), entry('closed', 30)], at(10))).toBeNull();
  });

  test('counts in the second of the last applied event only when the issue was closed then', () => {
    const events = [enqueue(10), entry('closed', 10)];
    expect(request(events, at(10))).toBeNull();
    const again = enqueue(10);
    expect(request([...events, again], at(10))).toBe(again);
  });

  test('counts once, by its id', () => {
    const reopened = entry('reopened', 10);
    const events = [entry('closed', 10), reopened];
    expect(request(events, at(10))).toBe(reopened);
    expect(request(events, at(10), reopened.id)).toBeNull();
  });
});

describe('timestamps', () => {
  test('compares timestamps by the second; null is before all', () => {
    expect(compareStamps('2026-01-01T00:00:01.900Z', '2026-01-01T00:00:01Z')).toBe(0);
    expect(compareStamps('2026-01-01T00:00:02Z', '2026-01-01T00:00:01.900Z')).toBe(1);
    expect(compareStamps(null, at(0))).toBe(-1);
    expect(compareStamps(null, null)).toBe(0);
  });
});

describe('the editors of a text', () => {
  test('lists those who changed the text after the label for intake', () => {
    const events = [entry('renamed', 5, { actor: 'alice' }), enqueue(10)];
    expect(textEditors({ events, bodyEdit: { at: at(9), editor: 'alice' } })).toEqual({
      enqueuedBy: 'anna',
      reopenedBy: null,
      title: null,
      body: null,
    });
    const renamed = entry('renamed', 11, { actor: 'alice' });
    expect(textEditors({ events: [...events, renamed], bodyEdit: { at: at(12), editor: null } })).toEqual({
      enqueuedBy: 'anna',
      reopenedBy: null,
      title: { login: 'alice' },
      body: { login: null },
    });
  });

  test('include an edit of the body in the same second as the label, whose order is unknown', () => {
    const editors = textEditors({ events: [enqueue(10)], bodyEdit: { at: at(10), editor: 'alice' } });
    expect(editors.body).toEqual({ login: 'alice' });
  });
});

test('the hash of a text is over title, line feed and body', () => {
  const hash = '7e18f737311b2dc3b2f269dd78396b0351f14fb66efa879f768cb23181883c78';
  expect(textHash({ title: 'a', body: 'b' })).toBe(hash);
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isOutputLabel, labelSwap, outputLabels } from './labels.ts';
import { isBlockedState, STATES } from './states.ts';

const shown = fc
  .record({ state: fc.constantFrom(...STATES), isPaused: fc.boolean() })
  .map((issue) => ({ ...issue, isBlocked: isBlockedState(issue.state) }));
const onHost = fc.uniqueArray(
  fc.oneof(
    fc.constantFrom(
      'bug',
      'docs',
      'svc:enqueue',
      'svc:urgent',
      'svc:paused',
      'svc:blocked',
      'svc:done',
      'svc:old-state',
    ),
    fc.constantFrom(...STATES).map((state) => `svc:${state}`),
    fc.string({ maxLength: 12 }),
  ),
);

describe('the labels of an issue on the host', () => {
  test('show its state, and the flags blocked and paused', () => {
    expect(outputLabels({ state: 'new', isBlocked: false, isPaused: false })).toEqual([]);
    expect(outputLabels({ state: 'failure-blocked', isBlocked: true, isPaused: true })).toEqual([
      'svc:blocked',
      'svc:failure-blocked',
      'svc:paused',
    ]);
  });

  test('the labels after a swap are exactly those of the issue; people’s labels and urgent stay, enqueue goes', () => {
    fc.assert(
      fc.property(shown, onHost, (issue, stored) => {
        const wanted = outputLabels(issue);
        const swap = labelSwap(stored, wanted) ?? { remove: [], add: [] };
        const after = [...stored.filter((label) => !swap.remove.includes(label)), ...swap.add];
        expect(after.filter(isOutputLabel).sort()).toEqual(wanted);
        expect(after).not.toContain('svc:enqueue');
        const foreign = (label: string) => !label.startsWith('svc:') || label === 'svc:urgent';
        expect(after.filter(foreign)).toEqual(stored.filter(foreign));
        expect(new Set(after).size).toBe(after.length);
        expect(labelSwap(after, wanted)).toBeNull();
      }),
    );
  });
});

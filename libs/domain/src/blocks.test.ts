import { describe, expect, test } from '@jest/globals';
import { BLOCK_REASONS, describeBlock, isBlockReason } from './blocks.ts';

describe('block reasons', () => {
  test.each(Object.entries(BLOCK_REASONS))('%s explains what happened and the remedy', (_reason, info) => {
    for (const text of [info.sentence, info.remedy]) {
      expect(text).toMatch(/^[A-Z].*\.$/);
      // The texts appear in comments on the host: they must contain no Markdown and mention no user.
      expect(text).not.toMatch(/[@#<>`*_[\]]/);
    }
  });

  test('only reasons that waiting resolves are transient and unblocked automatically', () => {
    const transient = Object.entries(BLOCK_REASONS).filter(([, info]) => info.classification === 'transient');
    expect(transient.map(([reason]) => reason)).toEqual(['agent_timeout', 'service_unavailable']);
  });

  test('an unknown code, an inherited name or none is explained as unknown', () => {
    for (const reason of ['moon_phase', 'constructor', 'toString', '', null]) {
      expect(isBlockReason(reason)).toBe(false);
      expect(describeBlock(reason)).toBe(BLOCK_REASONS.unknown);
    }
    expect(describeBlock('pr_closed')).toBe(BLOCK_REASONS.pr_closed);
  });
});

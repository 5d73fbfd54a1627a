import { expect, test } from '@jest/globals';
import { judgePushProtection } from './push-protection.ts';

test.each([
  [true, ['ruleset rule pull_request'], 'ok', 'pushes to main are restricted (ruleset rule pull_request)'],
  [true, [], 'ok', 'pushes to main are restricted'],
  [null, [], 'unknown', 'may not read'],
  [false, [], 'warning', 'a develop token may push to any branch'],
] as const)('a branch with restricted = %s by %j is %s', (restricted, by, status, message) => {
  const found = judgePushProtection('main', { restricted, by: [...by] });
  expect(found).toEqual({ check: 'push-protection', status, message: expect.stringContaining(message) });
});

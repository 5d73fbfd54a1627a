import { expect, test } from '@jest/globals';
import { parsePlanCommand } from './plan-command.ts';

test.each([
  ['/approve-plan', { kind: 'approve', version: null, text: '' }],
  ['  /svc:approve-plan v12 looks good ', { kind: 'approve', version: 12, text: 'looks good' }],
  ['/reject-plan 2 files are missing', { kind: 'reject', version: null, text: '2 files are missing' }],
  ['/reject-plan v2\nno tests\nat all', { kind: 'reject', version: 2, text: 'no tests\nat all' }],
  ['/edit-plan v1\r\n# Plan\n\n- step', { kind: 'edit', version: 1, text: '# Plan\n\n- step' }],
  ['/approve-plans', null],
  ['/approve-plan-now', null],
  ['I would /approve-plan', null],
  ['/svc:retry', null],
])('parses %j', (body, expected) => {
  expect(parsePlanCommand(body, 1_000)).toEqual(expected);
});

test('stays linear when a comment is long', () => {
  expect(parsePlanCommand(`/edit-plan${' '.repeat(200_000)}`, 105_000)).toMatchObject({ kind: 'edit', text: '' });
});

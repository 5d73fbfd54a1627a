import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { documentedBlock } from '@pipeline/testing/documented-block';
import { parse } from 'yaml';
import { type ActionStep, expand } from './action.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('expand replaces the expressions of each context and rejects an expression without a value', () => {
  const contexts = { inputs: { hosted: 'https://a.example', 'client-id': 'ci_1' } };
  expect(expand('$' + '{{ inputs.hosted }} $' + '{{ inputs.client-id }}', contexts)).toBe('https://a.example ci_1');
  expect(() => expand('$' + '{{ inputs.monitor }}', contexts)).toThrow('has no value');
});

test('the documented step passes only inputs that the action declares', () => {
  const [step] = parse(documentedBlock('docs/contract-tests.md', '- uses: ')) as [ActionStep];
  const [, path = ''] = /^[^/]+\/[^/]+\/(.+)@/.exec(step.uses) ?? [];
  const { inputs } = parse(readFileSync(join(ROOT, path, 'action.yml'), 'utf8')) as { inputs: object };
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(step.with)));
});

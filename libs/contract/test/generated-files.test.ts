import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { generatedFiles } from '../scripts/generated-files.ts';

const root = join(import.meta.dirname, '../../..');

test.each([...generatedFiles()])('%s agrees with the contract', (path, text) => {
  expect(readFileSync(join(root, path), 'utf8')).toBe(text);
});

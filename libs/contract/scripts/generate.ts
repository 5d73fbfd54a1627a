import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generated-files.ts';

// Writes the files generated from the contract; with --check, only reports the files that are out of date.
const root = join(import.meta.dirname, '../../..');
const check = process.argv.includes('--check');

for (const [path, text] of generatedFiles()) {
  const file = join(root, path);
  if (read(file) === text) continue;
  if (check) {
    process.exitCode = 1;
    process.stderr.write(`${path} is out of date: run libs/contract/scripts/generate.ts\n`);
  } else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

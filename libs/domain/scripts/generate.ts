import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { referenceDocuments } from './documents.ts';

const FOLDER = new URL('../../../docs/', import.meta.url);

/** Writes the reference pages, or with --check lists those that differ from the code (exit code 1). */
async function main(): Promise<void> {
  const check = process.argv.includes('--check');
  await mkdir(new URL('reference/', FOLDER), { recursive: true });
  const stale: string[] = [];
  for (const [name, text] of Object.entries(referenceDocuments())) {
    const file = new URL(name, FOLDER);
    const stored = await readFile(file, 'utf8').catch(absent);
    if (stored === text) continue;
    if (check) stale.push(fileURLToPath(file));
    else await writeFile(file, text);
  }
  if (stale.length === 0) return;
  process.stderr.write(`Not up to date: ${stale.join(', ')}\nUpdate with: node libs/domain/scripts/generate.ts\n`);
  process.exitCode = 1;
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

await main();

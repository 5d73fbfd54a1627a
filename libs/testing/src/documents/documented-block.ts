import { readFileSync } from 'node:fs';

const ROOT = new URL('../../../../', import.meta.url);

/**
 * Returns the indented block of a document whose first line begins with `first`; several are returned one after the
 * other. The lines of a block in a list begin with the spaces that they have beyond four.
 * @throws Error when the document has none.
 */
export function documentedBlock(document: string, first: string): string {
  const lines = readFileSync(new URL(document, ROOT), 'utf8').split('\n');
  const blocks = lines.flatMap((line, start) => {
    if (!line.startsWith(`    ${first}`)) return [];
    const end = lines.findIndex((other, index) => index > start && !other.startsWith('    '));
    return [lines.slice(start, end < 0 ? undefined : end).join('\n')];
  });
  if (blocks.length === 0) throw new Error(`${document} has no block that begins with: ${first}`);
  return blocks.join('\n');
}

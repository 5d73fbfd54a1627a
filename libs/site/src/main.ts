/**
 * Writes the documentation as a static site. Exit code 1 when a link, an anchor or a page does not exist.
 *
 *   node libs/site/src/main.ts [FOLDER]     default: dist/site
 */
import { join, resolve } from 'node:path';
import { buildSite } from './build.ts';
import { siteDocuments } from './documents.ts';

const root = join(import.meta.dirname, '../../..');
const out = resolve(process.argv[2] ?? join(root, 'dist/site'));
const { pages, problems } = await buildSite({ root, documents: siteDocuments(root), apis: ['hosted', 'monitor'] }, out);
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length === 0) process.stdout.write(`${pages} pages in ${out}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;

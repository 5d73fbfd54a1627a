/**
 * Lists the changes of the OpenAPI documents since a commit, and exits with 1 when they require a higher version of the API.
 *
 *   npm run api-changes -- REF      such as the last release, or origin/main
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_VERSION_FILE, apiChanges, OPENAPI_DOCUMENTS, requireApiVersion } from './api-version.ts';
import { git } from './commands.ts';

const root = join(import.meta.dirname, '../..');
const [ref] = process.argv.slice(2);

if (ref === undefined) {
  console.error('usage: npm run api-changes -- REF');
  process.exitCode = 2;
} else {
  const documents = OPENAPI_DOCUMENTS.map((path) => ({
    path,
    released: git(root, 'show', `${ref}:${path}`),
    current: readFileSync(join(root, path), 'utf8'),
  }));
  for (const document of documents) {
    const changes = apiChanges(document);
    console.log(`${document.path}: ${changes.length} changes since ${ref}`);
    for (const { raises, what } of changes) console.log(`${raises}  ${what}`);
  }
  try {
    requireApiVersion(readFileSync(join(root, API_VERSION_FILE), 'utf8'), documents);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}

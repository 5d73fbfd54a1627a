import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import createClient from 'openapi-fetch';
import openapiTS, { astToString } from 'openapi-typescript';
import { mintConnection } from '../support/connections.ts';
import { labelIssue, makeTenant } from '../support/hosted.ts';
import { hosting } from './hosting.ts';

describe('the typed client', () => {
  const PACKAGE = join(import.meta.dirname, '../..');
  const TSC = join(PACKAGE, 'node_modules/.bin/tsc');
  let folder: string;

  /** What a customer would write: typed by the document alone. Marked lines must not compile. */
  const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './types.ts';

const client = createClient<paths>({ baseUrl: process.argv[2]!, headers: { authorization: 'Bearer ' + process.argv[3] } });
const query = { repo: process.argv[4]! };

const { data: org, error } = await client.GET('/api/cli/bootstrap');
if (!org) throw new Error(error.error);
const { data: page } = await client.GET('/api/cli/issues', { params: { query: { ...query, state: 'open', limit: 1 } } });
const next: boolean | undefined = page?.page.hasMore;
const number = String(page!.items[0]!.issueNumber);
const { data: why } = await client.GET('/api/cli/issues/{number}/why', { params: { path: { number }, query } });
const { data: overview } = await client.GET('/api/cli/pipeline/overview', { params: { query } });
const open: number = overview!.issuesByState.analyzing;
const missing = await client.GET('/api/cli/pipeline/overview', { params: { query: { repo: 'no/such' } } });
const code: 'REPO_NOT_FOUND' | string | undefined = missing.error?.code;
// @ts-expect-error a state that there is not
void (() => client.GET('/api/cli/issues', { params: { query: { ...query, state: 'closed' } } }));
// @ts-expect-error the repo is required
void (() => client.GET('/api/cli/issues', { params: { query: {} } }));
// @ts-expect-error a field that there is not
void (() => why!.timeInStateMs);
console.log(JSON.stringify({ org: org.repos[0]!.slug, next, explanation: why!.explanation, open, code }));
`;

  beforeAll(async () => {
    // Below the package, so that its dependencies are found from there.
    folder = await mkdtemp(join(PACKAGE, 'node_modules/typed-client-'));
    return () => rm(folder, { recursive: true });
  });

  test('the document makes a client whose types hold, and which reads what there is', async () => {
    const { api } = hosting;
    const tenant = await makeTenant(api);
    const slug = `${tenant.repo.owner}/${tenant.repo.name}`;
    for (const number of [1, 2]) await labelIssue(api, tenant.repo, number);
    const { token } = await mintConnection(hosting.database.store, { tenantId: tenant.id, role: 'owner' });
    const types = await openapiTS(new URL(`${api.url}/api/openapi.json`), { defaultNonNullable: false });
    await writeFile(join(folder, 'types.ts'), astToString(types));
    await writeFile(join(folder, 'program.ts'), PROGRAM);
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const options = [
      '--strict',
      '--outDir',
      folder,
      '--skipLibCheck',
      '--types',
      'node',
      '--rewriteRelativeImportExtensions',
    ];
    const run = promisify(execFile);
    await run(TSC, [...options, '--module', 'nodenext', '--target', 'es2024', join(folder, 'program.ts')]);
    const { stdout } = await run(process.execPath, [join(folder, 'program.js'), api.url, token, slug]);
    expect(JSON.parse(stdout)).toEqual({
      org: slug,
      next: true,
      explanation: expect.stringContaining('waits for a free worker'),
      open: 2,
      code: 'REPO_NOT_FOUND',
    });
  });

  test('every answer of that client is declared', async () => {
    const { api } = hosting;
    const { id } = await makeTenant(api);
    const { token } = await mintConnection(hosting.database.store, { tenantId: id });
    // biome-ignore lint/suspicious/noExplicitAny: its types are the affair of the test above.
    const client = createClient<any>({
      baseUrl: api.url,
      fetch: api.fetch,
      headers: { authorization: `Bearer ${token}` },
    });
    const { data } = await client.GET('/api/cli/bootstrap', {});
    expect(data).toMatchObject({ repos: [] });
  });
});

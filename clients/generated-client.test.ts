/** Clients that @hey-api/openapi-ts generates from the OpenAPI documents, as a program would that has nothing else. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { contractTarget, SCRATCH } from '../libs/stack/test/contract/target.ts';

const ROOT = join(import.meta.dirname, '..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const GENERATOR = join(
  dirname(createRequire(import.meta.url).resolve('@hey-api/openapi-ts/package.json')),
  'bin/run.js',
);

const target = contractTarget();
const folder = mkdtempSync(join(tmpdir(), 'generated-client-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
import { createClient as hostedClient } from './hosted/client/index.js';
import { bootstrap, listIssues } from './hosted/index.js';
import { createClient as monitorClient } from './monitor/client/index.js';
import { pauseIssue, resumeIssue, searchIssues } from './monitor/index.js';

const { HOSTED = '', TOKEN = '', MONITOR = '', LOGIN = '', REPO = '' } = process.env;
const hosted = hostedClient({ baseUrl: HOSTED, auth: TOKEN });
const monitor = monitorClient({ baseUrl: MONITOR, auth: ({ scheme }) => (scheme === 'basic' ? LOGIN : undefined) });
const own = await bootstrap({ client: hosted, throwOnError: true });
const listed = await listIssues({ client: hosted, query: { repo: REPO, limit: 3 }, throwOnError: true });
const found = await searchIssues({ client: monitor, query: { repo: REPO, limit: 100 }, throwOnError: true });
const issue = found.data.items.find(({ isPaused }) => !isPaused);
if (!issue) throw new Error('no issue');
const [owner = '', repo = ''] = issue.repo.split('/');
const path = { owner, repo, issue: issue.issueNumber };
const paused = await pauseIssue({ client: monitor, path, body: {}, throwOnError: true });
const resumed = await resumeIssue({ client: monitor, path, throwOnError: true });
const absent = await pauseIssue({ client: monitor, path: { ...path, issue: 2147483647 }, body: {} });
// @ts-expect-error a state that does not exist
const wrong = () => searchIssues({ client: monitor, query: { state: 'nowhere' } });
// @ts-expect-error a parameter is missing
const missing = () => listIssues({ client: hosted });
console.log(JSON.stringify({
  repos: own.data.repos.map(({ slug }) => slug),
  listed: listed.data.items.length,
  done: [paused.data.ok, resumed.data.ok],
  refused: [absent.response?.status, absent.error?.code],
  unused: [wrong, missing].length,
}));
`;

const run = (args: string[]) => spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 120_000 });

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  for (const surface of ['hosted', 'monitor']) {
    const document = join(ROOT, `docs/reference/openapi-${surface}.json`);
    const made = run([GENERATOR, '-i', document, '-o', surface, '-c', '@hey-api/client-fetch', '--no-log-file']);
    if (made.status !== 0) throw new Error(made.stderr + made.stdout);
  }
}, 900_000);

test('a program with generated clients compiles strictly and calls both services', async () => {
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', ...types];
  const compiled = run([TSC, ...strict, 'program.ts']);
  expect(compiled.stdout).toBe('');
  expect(compiled.status).toBe(0);
  const { username, password } = target.OPERATOR;
  const env = {
    HOSTED: target.urls.hosted,
    TOKEN: target.tokens.access,
    MONITOR: target.urls.monitor,
    LOGIN: `${username}:${password}`,
    REPO: SCRATCH,
  };
  // Not spawnSync: the services write to pipes that this process reads.
  const child = spawn(process.execPath, ['program.js'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of child.stdout) printed += chunk;
  expect(JSON.parse(printed)).toEqual({
    repos: expect.arrayContaining([SCRATCH]),
    listed: 3,
    done: [true, true],
    refused: [404, 'ISSUE_NOT_FOUND'],
    unused: 2,
  });
}, 900_000);

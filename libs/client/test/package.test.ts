import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { installedPackage } from '@pipeline/testing/installed-package';
import { aServer, json } from './a-server.ts';

const root = join(import.meta.dirname, '../../..');
const TSC = join(root, 'node_modules/typescript/bin/tsc');
/** Bytes, compressed; types are not loaded by programs. */
const MAX_SIZE = 15_000;

const server = aServer();
const folder = mkdtempSync(join(tmpdir(), 'client-package-'));
let project = '';
afterAll(() => rmSync(folder, { recursive: true }));

/** Program that uses the package, as a customer would write it. */
const PROGRAM = `
import { clientCredentials, createHostedClient, createMonitorClient, type HostedSchemas, PipelineError } from '@pipeline/client';

const url = process.argv[2] ?? '';
const hosted = createHostedClient({ url, token: clientCredentials({ url, clientId: 'ci_1', clientSecret: 's' }) });
const why: HostedSchemas['IssueWhy'] = await hosted.explainIssue({ params: { number: 42 }, query: { repo: 'acme/shop' } });
const monitor = createMonitorClient({ url, username: 'olga', password: 'p' });
const numbers: number[] = [];
for await (const issue of monitor.all('searchIssues', { query: { state: 'in-review' } })) numbers.push(issue.issueNumber);
// @ts-expect-error a state that does not exist
const wrong = () => monitor.searchIssues({ query: { state: 'nowhere' } });
// @ts-expect-error a parameter is missing
const missing = () => hosted.explainIssue({ query: { repo: 'acme/shop' } });
// @ts-expect-error no list
const noList = () => monitor.all('readDashboard');
const error = await monitor.getHealth().catch((problem: unknown) => problem);
console.log(JSON.stringify({ why, numbers, code: error instanceof PipelineError && error.code, unused: [wrong, missing, noList].length }));
`;

const versionOf = (node: string) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim();

/** This Node, and every other version on the path. */
const nodes = [process.execPath, ...(process.env.PATH ?? '').split(delimiter).map((entry) => join(entry, 'node'))];
const versions = new Map(nodes.reverse().flatMap((node) => (versionOf(node) ? [[versionOf(node), node]] : [])));

beforeAll(() => {
  project = installedPackage('client', folder);
  writeFileSync(join(project, 'program.ts'), PROGRAM);
});

test('the package installs alone, is small and has the files that its manifest names', () => {
  const installed = join(project, 'node_modules/@pipeline/client');
  expect(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@pipeline']);
  expect(readdirSync(installed).sort()).toEqual(
    ['LICENSE', 'README.md', 'hosted.d.ts', 'index.d.ts', 'index.js', 'monitor.d.ts', 'package.json', 'types'].sort(),
  );
  expect(gzipSync(readFileSync(join(installed, 'index.js'))).length).toBeLessThan(MAX_SIZE);
});

test('a program compiles strictly against it', () => {
  const types = join(root, 'node_modules/@types');
  const strict = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', '--typeRoots', types];
  const compiled = spawnSync(process.execPath, [TSC, ...strict, 'program.ts'], { cwd: project, encoding: 'utf8' });
  expect(compiled.stdout).toBe('');
  expect(compiled.status).toBe(0);
});

test.each([...versions])('it runs under Node %s', async (_version, node) => {
  server.answers(
    json(200, { access_token: 't', expires_in: 600 }),
    json(200, { issueNumber: 42 }),
    json(200, { items: [{ issueNumber: 7 }], page: { offset: 0, hasMore: false } }),
    json(404, { error: 'no', code: 'NOT_FOUND', status: 404 }),
  );
  const child = spawn(node, ['program.js', server.at.url], { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  for await (const chunk of child.stdout) printed += chunk;
  expect(JSON.parse(printed)).toEqual({ why: { issueNumber: 42 }, numbers: [7], code: 'NOT_FOUND', unused: 3 });
});

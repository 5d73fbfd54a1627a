import { spawn } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import { document } from './documents.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const whole = JSON.stringify(document());
let folder: string;
let before: string;
let after: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contract-diff-'));
  [before, after] = [join(folder, 'before.json'), join(folder, 'after.json')];
  await writeFile(before, whole);
  await writeFile(after, JSON.stringify(document({}, { paths: {} })));
});

async function run(args: string[], input = '') {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args]);
  child.stdin.end(input);
  const status = new Promise<number | null>((ended) => child.once('close', ended));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr };
}

test('ends with 1 and writes the reports when a change is breaking', async () => {
  const [json, markdown] = [join(folder, 'a.json'), join(folder, 'a.md')];
  const result = await run(['diff', before, after, '--json', json, '--markdown', markdown]);
  expect(result).toMatchObject({ status: 1, stderr: '' });
  expect(result.stdout).toBe(
    'breaking operation-removed@GET /a: is gone\n1 changes: 1 breaking, 0 additive, 0 cosmetic\n',
  );
  expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject({
    breaks: true,
    changes: [{ level: 'breaking', rule: 'operation-removed', place: 'GET /a' }],
  });
  expect(await readFile(markdown, 'utf8')).toContain('| breaking | operation\\-removed | GET /a | is gone |');
});

test('ends with 0 when the breaking change is allowed', async () => {
  const result = await run(['diff', before, after, '--allow', 'operation-removed@GET /a=not used']);
  expect(result).toMatchObject({ status: 0, stderr: '' });
  expect(result.stdout).toContain('(allowed: not used)');
});

test('reports the allowance when it matches no change', async () => {
  const result = await run(['diff', before, after, '--allow', 'operation-removed@GET /b=not used']);
  expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining('matches no breaking change') });
});

test('ends with 0 when standard input equals the file', async () => {
  expect(await run(['diff', before, '-'], whole)).toMatchObject({ status: 0, stderr: '' });
});

test('reads a document over HTTP when an address is given', async () => {
  const server = createServer(({ url }, response) => response.writeHead(url === '/a' ? 200 : 404).end(whole));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await run(['diff', `${address}/a`, before])).toMatchObject({ status: 0 });
    const refused = await run(['diff', `${address}/b`, before]);
    expect(refused).toMatchObject({ status: 78, stderr: `error: ${address}/b cannot be read: status 404\n` });
  } finally {
    await new Promise((closed) => server.close(closed));
  }
});

test.each([[['diff']], [['diff', '-', '-']], [['diff', 'a', 'b', '--allow', 'none@a=b']], [['diff', 'a', 'b', 'c']]])(
  'ends with 2 when the arguments are %j',
  async (args) => {
    expect(await run(args)).toMatchObject({ status: 2, stdout: '' });
  },
);

test('ends with 78 when a document is missing, no JSON or too long', async () => {
  expect(await run(['diff', join(folder, 'none'), before])).toMatchObject({ status: 78 });
  expect(await run(['diff', '-', before], 'x')).toMatchObject({
    status: 78,
    stderr: 'error: standard input is not JSON\n',
  });
  const long = join(folder, 'long.json');
  await writeFile(long, ' '.repeat(33 * 1024 * 1024));
  const refused = await run(['diff', long, before]);
  expect(refused).toMatchObject({ status: 78, stderr: expect.stringContaining('longer than 32 MiB') });
});

test('replaces control characters when a document contains them', async () => {
  const shown = await run(
    ['diff', before, '-'],
    JSON.stringify(document({}, { paths: { '/\u001b[2J': { get: {} } } })),
  );
  expect(shown.stdout).not.toContain('\u001b');
});

test('refuses the command line when it has neither a subcommand nor a target', async () => {
  expect(await run([])).toMatchObject({ status: 2, stderr: 'error: --hosted or --monitor is needed\n' });
});

import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { MappedFile, MappedSymbol } from '@pipeline/domain';
import { parseLine } from '@pipeline/worker';
import { languageOf } from '../../src/demo/code-map/languages.ts';
import { symbolsOf } from '../../src/demo/code-map/symbols.ts';
import { AgentBench, type AgentRun } from './agent-bench.ts';

const FILES = {
  'README.md': '# Widgets\n\n```sh\n# no heading\n```\n\n## Use ##\n',
  'src/a.ts': 'export const a = 1;\n\nexport async function run() {}\n  const inner = 2;\n',
  'src/ü b.py': 'import os\n\nclass Box:\n    def open(self):\n        pass\n\ndef main():\n    pass\n',
  'logo.bin': 'x\0y',
};

let bench: AgentBench;
beforeEach(async () => {
  bench = await AgentBench.open(FILES);
});
afterEach(() => bench.close());

const task = () => {
  const made = bench.task('code-map-scan', {});
  return { ...made, issueNumber: null, payload: { ...made.payload, issue: null } };
};

function mapOf(run: AgentRun): { files: MappedFile[]; symbols: MappedSymbol[] } {
  const parts = run.records.filter((record) => record.type === 'code-map');
  return { files: parts.flatMap((part) => part.files), symbols: parts.flatMap((part) => part.symbols) };
}

test('a scan lists the files of the default branch as git has them, and what they declare', async () => {
  await symlink('a.ts', join(bench.person, 'src/link.ts'));
  await bench.commit('A link', {});
  const run = await bench.run(task());
  expect(run).toMatchObject({ exitCode: 0, outcome: 'scanned' });
  for (const record of run.records) expect(parseLine(JSON.stringify(record)).kind).toBe('record');
  expect(run.result).toMatchObject({ headSha: await bench.git('rev-parse', 'HEAD'), truncated: false });
  const { files, symbols } = mapOf(run);
  expect(files.map((file) => file.path).sort()).toEqual(Object.keys(FILES).sort());
  expect(files.find((file) => file.path === 'src/a.ts')).toEqual({
    path: 'src/a.ts',
    language: 'TypeScript',
    size: FILES['src/a.ts'].length,
    sha: await bench.git('rev-parse', 'HEAD:src/a.ts'),
    summary: null,
  });
  expect(files.find((file) => file.path === 'logo.bin')).toMatchObject({ language: null, size: 3 });
  expect(symbols.map(({ path, kind, name, line }) => `${path}:${line} ${kind} ${name}`).sort()).toEqual([
    'README.md:1 heading Widgets',
    'README.md:7 heading Use',
    'src/a.ts:1 const a',
    'src/a.ts:3 function run',
    'src/ü b.py:3 class Box',
    'src/ü b.py:7 def main',
  ]);
});

test('a large repository is told in lines that the runner takes', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, n) => [
      `src/part-${n}.ts`,
      Array.from({ length: 20 }, (_line, k) => `export const name${n}x${k} = 0;\n`).join(''),
    ]),
  );
  await bench.commit('Many', many);
  const run = await bench.run(task());
  const parts = run.records.filter((record) => record.type === 'code-map');
  expect(parts.length).toBeGreaterThan(1);
  for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(2 ** 20);
  expect(mapOf(run).symbols).toHaveLength(400 * 20 + 6);
});

describe('symbols', () => {
  test.each([
    ['TypeScript', 'export default abstract class Foo {', 'class Foo'],
    ['TypeScript', 'declare function* gen() {}', 'function gen'],
    ['JavaScript', 'let $x = 1', 'let $x'],
    ['Go', 'func (s *Server) Run(ctx context.Context) {', 'func Run'],
    ['Rust', 'pub(crate) async fn go() {', 'fn go'],
    ['SQL', 'CREATE TABLE IF NOT EXISTS pipeline.tasks (', 'TABLE pipeline.tasks'],
    ['Python', 'async def main():', 'def main'],
  ])('of %s: %s', (language, line, wanted) => {
    expect(symbolsOf(language, line).map(({ kind, name }) => `${kind} ${name}`)).toEqual([wanted]);
  });

  test.each([
    ['TypeScript', '  const inner = 1;'],
    ['TypeScript', 'constant = 1;'],
    ['Markdown', '~~~~\n# a\n~~~\n# b\n~~~~'],
    ['JSON', '{"const": 1}'],
  ])('none in %s: %j', (language, text) => expect(symbolsOf(language, text)).toEqual([]));
});

test.each([
  ['a/b.TSX', 'TypeScript'],
  ['deploy/Dockerfile', 'Dockerfile'],
  ['.gitignore', null],
  ['bin/run', null],
])('the language of %s is %s', (path, language) => expect(languageOf(path)).toBe(language));

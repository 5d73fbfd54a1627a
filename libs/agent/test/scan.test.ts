import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { RunRecord } from '@pipeline/worker';
import { languageOf, symbolsOf } from '../src/code-map/scan.ts';
import { AgentBench } from './agent-bench.ts';

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

const IDLE = { turns: [[]] };
const scan = () =>
  bench.run({ ...bench.task('code-map-scan', { issue: null, branch: null }), issueNumber: null }, IDLE);

function mapOf(records: readonly RunRecord[]) {
  const parts = records.filter((record) => record.type === 'code-map');
  return { parts, files: parts.flatMap((part) => part.files), symbols: parts.flatMap((part) => part.symbols) };
}

test('lists the files of the default branch and what they declare when a scan is requested', async () => {
  await symlink('a.ts', join(bench.dir, 'person/src/link.ts'));
  const headSha = await bench.commit('A link', {});
  const { verdict, records } = await scan();
  expect(verdict).toMatchObject({ outcome: 'scanned', result: { headSha, truncated: false } });
  const { files, symbols } = mapOf(records);
  expect(files.map((file) => file.path).sort()).toEqual(Object.keys(FILES).sort());
  expect(files.find((file) => file.path === 'src/a.ts')).toEqual({
    path: 'src/a.ts',
    language: 'TypeScript',
    size: FILES['src/a.ts'].length,
    sha: await bench.hostGit('rev-parse', 'main:src/a.ts'),
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

test('records parts of a bounded size when the repository is large', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 400 }, (_, n) => [
      `src/part-${n}.ts`,
      Array.from({ length: 20 }, (_line, k) => `export const name${n}x${k} = 0;\n`).join(''),
    ]),
  );
  await bench.commit('Many', many);
  const { parts, symbols } = mapOf((await scan()).records);
  expect(parts.length).toBeGreaterThan(1);
  for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(2 ** 20);
  expect(symbols).toHaveLength(400 * 20 + 6);
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
  ])('finds symbols of %s: %s', (language, line, wanted) => {
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

/**
 * Checks the wording of lines added since a commit: the first text of doc comments, and the names of tests.
 * Usage: `node scripts/checks/changed-language.mjs [REF]`; default: the merge base with the main branch, else HEAD~1.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

const RULES = [
  {
    pattern:
      /\/\*\*\s*\n?\s*\*?\s*(?:Of|What|Where|As|How|Who|By|From|To|With|Whether|Which|That|When|In|On|For)\b[^\n]*/g,
    advice: 'begin with a verb ("Returns …") or with the noun ("Id of …", "Milliseconds until …")',
  },
  {
    pattern: /\b(?:it|test)(?:\.each\([^)]*\))?\(\s*['"`](?:is|are|of|has|have|that|when|what|with|without)\b[^\n]*/gi,
    advice: 'begin with a verb ("returns 410 when …") or with the subject ("a revoked connection answers …")',
  },
];

/** Standard output of git; null = git failed. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 });
  return status === 0 ? stdout.trim() : null;
}

/** Finds the commit to compare with; null = this checkout has none, such as a clone of depth 1. */
function findBase() {
  const head = git('rev-parse', 'HEAD');
  const bases = ['origin/main', 'main'].map((branch) => git('merge-base', branch, 'HEAD'));
  return bases.find((base) => base && base !== head) ?? git('rev-parse', '--verify', '--quiet', 'HEAD~1');
}

/** Lists the findings of one file, given its part of the diff. */
function findingsOf(diff) {
  const [path] = /(?<=^\+\+\+ b\/).+/m.exec(diff) ?? [];
  if (!path || path.includes('.generated.')) return [];
  const hunks = [...diff.matchAll(/^@@ \S+ \+(\d+)(?:,(\d+))?/gm)].map(([, from, count = 1]) => [
    +from,
    +from + +count,
  ]);
  const text = readFileSync(join(root, path), 'utf8');
  return RULES.flatMap(({ pattern, advice }) =>
    [...text.matchAll(pattern)]
      .map((match) => ({ line: text.slice(0, match.index + match[0].length).split('\n').length, match }))
      .filter(({ line }) => hunks.some(([from, end]) => from <= line && line < end))
      .map(({ line, match }) => `${path}:${line}: ${match[0].split('\n').at(-1).trim()}\n  ${advice}`),
  );
}

const base = process.argv[2] ?? findBase();
const diff = base && git('diff', '-U0', '--no-color', '--no-ext-diff', base, '--', '*.ts', '*.tsx', '*.mjs');
if (base && diff === null) throw new Error(`git diff ${base} failed`);
const found = (diff ?? '').split(/^(?=diff --git )/m).flatMap(findingsOf);
console.log(base ? found.join('\n') : 'There is no earlier commit to compare with.');
process.exitCode = found.length > 0 ? 1 : 0;

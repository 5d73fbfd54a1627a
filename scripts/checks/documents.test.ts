/** Existence of what the documents name: links, files, environment variables. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT, repositoryFiles } from './workspace.ts';

const files = repositoryFiles();
const documents = files.filter((path) => path.endsWith('.md') && !path.startsWith('docs/reference/'));

/** Variables that no code here reads, and why a document names them all the same. */
const NOT_OURS: Readonly<Record<string, string>> = {
  COMPOSE_FILE: 'of docker compose',
  HOSTED: 'of the reader’s shell',
};

/** Paths that are not of this repository, and whose they are. */
const NOT_HERE: Readonly<Record<string, string>> = {
  'docs/reports/index.md': 'the demo fleet writes it in the repository that it works on',
};

/** Words in the shape of a variable that are none. */
const NO_VARIABLE = /^(CLAIM_LOST|TASK_CANCELLED|[A-Z]+_(REQUIRED|FAILED|UNAVAILABLE|NOT_FOUND)|INVALID_.*)$/;

/** Links that lead to no file or folder; `[text](target)`, targets with a scheme or only an anchor left out. */
function deadLinks(document: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  const local = targets.filter((target) => !/^([a-z]+:|#)/.test(target)).map((target) => target.replace(/#.*/, ''));
  return local.filter((target) => !existsSync(join(ROOT, dirname(document), target)));
}

/** Paths in backticks that start at a top folder of the repository and lead nowhere. `…` or `<` means: not literal. */
function deadPaths(text: string): string[] {
  const quoted = [...text.matchAll(/`((?:services|libs|scripts|docs|bench|deploy|\.ci|\.github)\/[^`\s]*)`/g)];
  const literal = quoted.map((match) => match[1] ?? '').filter((path) => !/[…<*]/.test(path));
  return literal.filter((path) => !(path in NOT_HERE) && !existsSync(join(ROOT, normalize(path))));
}

/** Environment variables that a document names in backticks or as `$NAME`. */
function variablesIn(text: string): string[] {
  const named = [...text.matchAll(/(?:`|\$)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)(?=[`=:"/ ])/g)].map(
    (match) => match[1] ?? '',
  );
  return [...new Set(named)].filter((name) => (name.includes('_') || name in NOT_OURS) && !NO_VARIABLE.test(name));
}

const code = files
  .filter((path) => /\.(tsx?|mjs|ya?ml)$|Dockerfile$|^\.ci\//.test(path) && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(ROOT, path), 'utf8'))
  .join('\n');
const isRead = (name: string): boolean => new RegExp(`\\b${name}\\b`).test(code);

describe.each(documents)('%s', (document) => {
  const text = readFileSync(join(ROOT, document), 'utf8');

  test('links to what exists', () => {
    expect(deadLinks(document, text)).toEqual([]);
  });

  test('names paths that exist', () => {
    expect(deadPaths(text)).toEqual([]);
  });

  test('names variables that the code reads', () => {
    expect(variablesIn(text).filter((name) => !(name in NOT_OURS) && !isRead(name))).toEqual([]);
  });
});

describe('the check itself', () => {
  test('finds a dead link, and leaves addresses and anchors alone', () => {
    const text = '[a](gone.md) [b](../README.md#top) [c](https://example.org/x) [d](#here)';
    expect(deadLinks('docs/architecture.md', text)).toEqual(['gone.md']);
  });

  test('finds a dead path', () => {
    expect(deadPaths('`libs/domain` `libs/nowhere/src/x.ts` `services/…` `other/thing`')).toEqual([
      'libs/nowhere/src/x.ts',
    ]);
  });

  test('finds variables, and only those', () => {
    expect(variablesIn('`DATABASE_URL` "$WORKER_TOKEN" `CLAIM_LOST` `GET` `URL` `LOG_DIR`=x')).toEqual([
      'DATABASE_URL',
      'WORKER_TOKEN',
      'LOG_DIR',
    ]);
    expect(isRead('NO_SUCH_VARIABLE')).toBe(false);
  });

  test('the code makes no exception needless', () => {
    expect(Object.keys(NOT_OURS).filter(isRead)).toEqual([]);
  });
});

import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chooseChore, makeChore } from '../../src/demo/chores/choose.ts';
import type { Chore, Tree } from '../../src/demo/chores/chore.ts';
import { crowded, withIndexLine } from '../../src/demo/chores/crowded.ts';
import { undocumented } from '../../src/demo/chores/docstrings.ts';
import { withoutLicence } from '../../src/demo/chores/licence.ts';
import { brokenLinks } from '../../src/demo/chores/links.ts';
import { withTableOfContents } from '../../src/demo/chores/toc.ts';
import { cleanWhitespace } from '../../src/demo/chores/whitespace.ts';

const treeOf = (files: Record<string, string>): Tree => ({
  paths: Object.keys(files),
  read: (path) => files[path] ?? null,
});

function applied(chore: Chore, files: Record<string, string>): Record<string, string> {
  const edits = chore.edits(treeOf(files)).map(({ path, text }) => [path, text] as const);
  return { ...files, ...Object.fromEntries(edits) };
}

/** Pages with everything that makes Markdown hard: fences, quotations, HTML, markers, odd line ends. */
const page = fc
  .array(
    fc.constantFrom(
      ...['# One', '## Two', '## Two', '### A `b` [c](d) <e>', '> ## quoted', '- ## in a list', '```', '    code', ''],
      ...[
        '<!-- toc -->',
        '<!-- /toc -->',
        '<div>',
        '</div>',
        'text  ',
        'Setext',
        '---',
        '===',
        '\t',
        '## ',
        '#### Four',
      ],
    ),
    { maxLength: 14 },
  )
  .chain((lines) => fc.constantFrom('\n', '\r\n').map((eol) => lines.join(eol)));

describe('table of contents', () => {
  test('lists second and third level headings after the title, with the anchors of the host', () => {
    const text = '# Title\n\nIntro\n\n## Same\n\n### Deep *one*\n\n## Same\n\n#### Too deep\n';
    expect(withTableOfContents(text)).toBe(
      '# Title\n\n<!-- toc -->\n\n- [Same](#same)\n  - [Deep one](#deep-one)\n- [Same](#same-1)\n\n<!-- /toc -->\n\n' +
        'Intro\n\n## Same\n\n### Deep *one*\n\n## Same\n\n#### Too deep\n',
    );
  });

  test('replaces what an earlier run wrote and leaves the rest of the page alone', () => {
    const stale = '# T\n\n<!-- toc -->\n\n- [Gone](#gone)\n\n<!-- /toc -->\n\n## Here\n';
    expect(withTableOfContents(stale)).toBe('# T\n\n<!-- toc -->\n\n- [Here](#here)\n\n<!-- /toc -->\n\n## Here\n');
  });

  test('headings in code are no headings, and a page without sections stays as it is', () => {
    const text = '# T\n\n```\n## not a heading\n```\n';
    expect(withTableOfContents(text)).toBe(text);
  });

  test('front matter stays first', () => {
    expect(withTableOfContents('---\ntitle: x\n---\n\n## A\n')).toMatch(/^---\ntitle: x\n---\n\n<!-- toc -->/);
  });

  test('a second run changes nothing, whatever the page', () => {
    fc.assert(
      fc.property(page, (text) => {
        const once = withTableOfContents(text);
        expect(withTableOfContents(once)).toBe(once);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('whitespace', () => {
  test('keeps the hard break of Markdown and the line endings of the file', () => {
    expect(cleanWhitespace('a   \r\nb\t\r\n\r\n', true)).toBe('a  \r\nb\r\n');
    expect(cleanWhitespace('a   \nb', false)).toBe('a\nb\n');
  });

  test('a second run changes nothing, and only blanks and newlines ever change', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\n', '\r', '\r\n') });
    fc.assert(
      fc.property(text, fc.boolean(), (given, markdown) => {
        const once = cleanWhitespace(given, markdown);
        expect(cleanWhitespace(once, markdown)).toBe(once);
        expect(once.replace(/\s/g, '')).toBe(given.replace(/\s/g, ''));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('reports', () => {
  test('an exported name needs a comment right above it', () => {
    const text =
      '/** Said. */\nexport const a = 1;\n\nexport function b() {}\n// said\nexport class C {}\nexport * from "x";';
    expect(undocumented('x.ts', text)).toEqual([{ path: 'x.ts', line: 4, text: 'function b has no docstring' }]);
  });

  test('a licence is looked for in the head of the file', () => {
    expect(withoutLicence('x.ts', '// SPDX-License-Identifier: MIT\ncode')).toEqual([]);
    expect(withoutLicence('x.ts', 'code')).toHaveLength(1);
  });

  test('relative links are followed to files, folders and headings', () => {
    const tree = treeOf({ 'README.md': '', 'docs/a b.md': '## Part one\n<a id="x"></a>', 'docs/img/i.png': '' });
    const links = [
      '[ok](docs/a%20b.md#part-one) [ok](/docs/img) [ok](https://x.example/no) [ok](../../wiki) [ok](docs/a%20b.md#x)',
      '[bad](docs/b.md) ![bad](i.png)',
      '[bad](docs/a%20b.md#part-two) `[code](nowhere.md)`',
    ].join('\n\n');
    expect(brokenLinks('README.md', links, tree)).toEqual([
      { path: 'README.md', line: 3, text: 'docs/b.md: no such file' },
      { path: 'README.md', line: 3, text: 'i.png: no such file' },
      { path: 'README.md', line: 5, text: 'docs/a%20b.md#part-two: no such heading' },
    ]);
  });

  test('every chore finds nothing more to do on what it leaves behind', () => {
    const files = {
      'a.md': '# T\n\n## A [x](gone.md)  ',
      'docs/b.md': '## B\n\n[y](../a.md#t) |\n',
      'src/c.ts': 'export const c = 1;',
    };
    for (const kind of ['toc', 'whitespace', 'docstrings', 'links', 'licence'] as const) {
      const chore = crowded(makeChore(kind, kind === 'toc' ? 'a.md' : ''), 7);
      const after = applied(chore, files);
      expect(after).not.toEqual(files);
      expect(chore.edits(treeOf(after))).toEqual([]);
    }
  });

  test('the shared index has one line per issue, in the order of their numbers', () => {
    const text = withIndexLine(
      withIndexLine(withIndexLine(null, { number: 10, title: 'ten' }), { number: 2, title: 'x' }),
      {
        number: 2,
        title: 'two',
      },
    );
    expect(text).toBe('# Chores done\n\n- #2: two\n- #10: ten\n');
  });
});

describe('what an issue asks for', () => {
  const tree = treeOf({ 'README.md': '', 'docs/guide.md': '', 'src/a.ts': '' });
  const request = (title: string, body = '', answers: string[] = []) => ({ title, body, labels: [], answers });

  test.each([
    ['Add a table of contents to `docs/guide.md`', '', 'toc', 'docs/guide.md'],
    ['Docstrings', 'Please list undocumented names in `./src/`', 'docstrings', 'src'],
    ['Report broken links everywhere', '', 'links', ''],
    ['Clean whitespace', 'in `docs/guide.md`.', 'whitespace', 'docs/guide.md'],
  ])('%s', (title, body, kind, target) => {
    expect(chooseChore(request(title, body), tree)).toMatchObject({ chore: { kind, target } });
  });

  test('a label wins over words', () => {
    const choice = chooseChore({ ...request('Table of contents of `src`'), labels: ['chore:licence'] }, tree);
    expect(choice).toMatchObject({ chore: { kind: 'licence', target: 'src' } });
  });

  test('asks which file when none is named, and takes the answer', () => {
    const title = 'Add a table of contents (which file?)';
    expect(chooseChore(request(title, '`README.md` or another'), tree)).toMatchObject({
      question: expect.stringContaining('docs/guide.md'),
    });
    expect(chooseChore(request(title, '', ['docs/guide.md, please']), tree)).toMatchObject({
      chore: { target: 'docs/guide.md' },
    });
    expect(chooseChore(request(title, '', ['you choose']), tree)).toMatchObject({ chore: { target: 'README.md' } });
  });

  test('names what it did not find and the known chores', () => {
    expect(chooseChore(request('Docstrings of `nowhere`'), tree)).toMatchObject({
      question: expect.stringContaining('nowhere'),
    });
    expect(chooseChore(request('Make it faster'), tree)).toMatchObject({
      question: expect.stringContaining('docstrings'),
    });
  });
});

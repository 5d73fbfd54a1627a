import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dependenciesIn, dependencyChanges, MAX_TEXT_DEPENDENCIES } from './text-dependencies.ts';

const HOME = { repo: { owner: 'acme', name: 'shop' }, number: 1, url: 'https://github.com/acme/shop/issues/1' };
const found = (text: string) =>
  dependenciesIn(text, HOME).map(({ repo, number }) =>
    repo.owner === 'acme' && repo.name === 'shop' ? number : `${repo.owner}/${repo.name}#${number}`,
  );

describe('a text names as dependencies', () => {
  test.each<[text: string, expected: (number | string)[]]>([
    ['- [ ] #12', [12]],
    ['* [ ] #12 The title', [12]],
    ['1. [ ] acme/till#12', ['acme/till#12']],
    ['+ [ ] https://github.com/acme/till/issues/12', ['acme/till#12']],
    ['  - [ ] [#12](https://github.com/acme/shop/issues/12)', [12]],
    ['- [ ] #12\n- [x] #13\n- [X] #14', [12]],
    ['Depends on #2', [2]],
    ['depends on: #2, #3 and #4.', [2, 3, 4]],
    ['**Blocked by:** #2 & acme/till#3', [2, 'acme/till#3']],
    ['This is BLOCKED BY #2; #3', [2, 3]],
    ['It depends on https://github.com/acme/shop/issues/2 and (#3)', [2, 3]],
    ['waiting for issue #2 or issues #3', [2, 3]],
    ['Depends on #2 #3', [2, 3]],
    ['depends on #2. Blocked by #2 and #5', [2, 5]],
    ['- depends on #2\n- blocked by #3', [2, 3]],
    ['- [ ] #12 depends on #13', [12, 13]],
    ['Depends on #2\r\nBlocked by #3', [2, 3]],
    ['depends on <https://github.com/acme/shop/pull/7>', [7]],
  ])('%j', (text, expected) => {
    expect(found(text)).toEqual(expected);
  });
});

describe('a text does not name as dependencies', () => {
  test.each([
    ['an issue that it only mentions', 'See #12, like #13. - [ ] do as in #14'],
    ['a task that only mentions one', '- [ ] write the docs as in #14'],
    ['what is done', '- [x] #12'],
    ['itself', 'depends on #1, acme/shop#1 and ACME/Shop#1'],
    ['negated dependencies', "It no longer depends on #2, is not blocked by #3 and doesn't depend on #4"],
    ['what unblocked it', 'unblocked by #2'],
    ['something in a comment', '<!-- depends on #2 -->\n<!--\n- [ ] #3\n-->'],
    ['something in a comment without end', 'Text <!-- depends on #2\n- [ ] #3'],
    ['something in a code block', '```\n- [ ] #2\n```\n~~~md\ndepends on #3\n~~~'],
    ['something in a code block without end', '````\n```\ndepends on #2'],
    ['something in a code block of a list', '- so:\n  ```\n  depends on #2\n  ```'],
    ['something in indented code', 'So:\n\n    depends on #2\n\n\tblocked by #3'],
    ['something in a code span', '`depends on #2`, ``blocked by `#3` ``'],
    ['something in a quotation', '> depends on #2\n>\n> - [ ] #3'],
    ['something in a quotation that goes on', '> Anna wrote:\ndepends on #2'],
    ['something on another host', 'depends on https://gitlab.com/acme/shop/issues/2'],
    ['a number that is none', 'depends on #0, #012, #99999999999 and #2x'],
    ['a heading', 'blocked by # 2'],
  ])('%s', (_what, text) => {
    expect(found(text)).toEqual([]);
  });
});

test('text after a comment, a code block or a quotation is parsed', () => {
  expect(found('<!-- x --> depends on #2')).toEqual([2]);
  expect(found('```\nx\n```\ndepends on #2')).toEqual([2]);
  expect(found('> quote\n\ndepends on #2')).toEqual([2]);
  expect(found('> quote\n- [ ] #2')).toEqual([2]);
  expect(found('- a\n\n    - [ ] #2')).toEqual([2]);
  expect(found('`code` depends on #2, `more')).toEqual([2]);
});

test('an edit lists added and removed dependencies', () => {
  const changes = dependencyChanges('depends on #2 and #3', '- [ ] #3\n- [x] #2\n- [ ] #4', HOME);
  expect(changes.added.map(({ number }) => number)).toEqual([4]);
  expect(changes.removed.map(({ number }) => number)).toEqual([2]);
});

const issue = fc.record({
  repo: fc.constantFrom(HOME.repo, { owner: 'acme', name: 'till' }, { owner: 'o-1', name: 'a.b_c' }),
  number: fc.integer({ min: 2, max: 2_147_483_647 }),
});
const written = fc.constantFrom(
  ({ repo, number }: { repo: typeof HOME.repo; number: number }) => `${repo.owner}/${repo.name}#${number}`,
  ({ repo, number }: { repo: typeof HOME.repo; number: number }) =>
    `https://github.com/${repo.owner}/${repo.name}/issues/${number}`,
);
const key = ({ repo, number }: { repo: typeof HOME.repo; number: number }) => `${repo.owner}/${repo.name}#${number}`;
const unique = (issues: { repo: typeof HOME.repo; number: number }[]) => [...new Set(issues.map(key))];
const list = fc.array(fc.tuple(issue, written), { minLength: 1, maxLength: 20 });

describe('for all lists of issues', () => {
  test('a task list and a phrase name the same issues in the same order', () => {
    fc.assert(
      fc.property(list, fc.constantFrom(', ', ' and ', ', and ', ' ', ' & ', ';'), (items, separator) => {
        const expected = unique(items.map(([each]) => each));
        const references = items.map(([each, write]) => write(each));
        const tasks = references.map((reference) => `- [ ] ${reference}`).join('\n');
        expect(dependenciesIn(tasks, HOME).map(key)).toEqual(expected);
        const phrase = `Intro.\n\nDepends on ${references.join(separator)}.`;
        expect(dependenciesIn(phrase, HOME).map(key)).toEqual(expected);
      }),
    );
  });

  test('hidden references name none', () => {
    const hide = fc.constantFrom(
      (text: string) => `<!--\n${text}\n-->`,
      (text: string) => `\`\`\`\n${text}\n\`\`\``,
      (text: string) => `~~~~ md\n${text}\n~~~~`,
      (text: string) => text.replace(/^/gm, '> '),
      (text: string) => `Text:\n\n${text.replace(/^/gm, '    ')}`,
    );
    fc.assert(
      fc.property(list, hide, (items, hidden) => {
        const tasks = items.map(([each, write]) => `- [ ] ${write(each)}\ndepends on ${write(each)}`).join('\n');
        expect(dependenciesIn(hidden(tasks), HOME)).toEqual([]);
      }),
    );
  });
});

describe('for all texts', () => {
  const bits = fc.constantFrom(
    '#2',
    '- [ ] ',
    'depends on ',
    '```',
    '<!--',
    '-->',
    '> ',
    '\n',
    '`',
    '    ',
    ' and ',
    '(',
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(bits, { maxLength: 60 }).map((parts) => parts.join('')),
  );

  test('parsing names each issue once, never itself, and at most the limit', () => {
    fc.assert(
      fc.property(text, (any) => {
        const keys = dependenciesIn(any, HOME).map(key);
        expect(new Set(keys).size).toBe(keys.length);
        expect(keys).not.toContain('acme/shop#1');
        expect(keys.length).toBeLessThanOrEqual(MAX_TEXT_DEPENDENCIES);
      }),
    );
  });

  test('an empty edit changes nothing, and a reverted edit reverts the change', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(dependencyChanges(before, before, HOME)).toEqual({ added: [], removed: [] });
        const there = dependencyChanges(before, after, HOME);
        const back = dependencyChanges(after, before, HOME);
        expect(back.added.map(key).sort()).toEqual(there.removed.map(key).sort());
      }),
    );
  });

  test('a long text costs no more than its length', () => {
    const begun = process.cpuUsage();
    for (const part of ['depends on #2 ', '- [ ] #2 ', '`', '<!--', '> ', '#2, ', 'depends on ((((', 'acme/']) {
      dependenciesIn(part.repeat(65_536 / part.length), HOME);
    }
    expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
  });
});

import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chooseChore } from '../../src/demo/chores/choose.ts';
import type { Tree } from '../../src/demo/chores/chore.ts';
import { demoIssues, fillReferences } from '../../src/demo/demo-issues.ts';
import { SCENARIO_LABELS } from '../../src/demo/scenarios.ts';

const FILES = ['README.md', 'docs/a.md', 'docs/deep/b.md', 'docs/reports/old.md'].concat(
  Array.from({ length: 20 }, (_, index) => `libs/p${index}/src/index.ts`),
);

test('thirty different issues, each of which the agent understands without a question', () => {
  const issues = demoIssues(FILES);
  expect(issues).toHaveLength(30);
  expect(new Set(issues.map((issue) => issue.title)).size).toBe(30);
  const tree: Tree = { paths: FILES, read: () => '' };
  for (const issue of issues) expect(chooseChore({ ...issue, answers: [] }, tree)).toHaveProperty('chore');
});

test('every scenario is shown by some issue', () => {
  const labels = new Set(demoIssues(FILES).flatMap((issue) => issue.labels));
  for (const label of Object.values(SCENARIO_LABELS)) expect(labels).toContain(label);
});

test('the same paths in another order give the same list, and any paths give one', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom(...FILES)), (files) => {
      expect(demoIssues(files)).toEqual(demoIssues([...files].reverse()));
    }),
  );
  expect(demoIssues([])).toEqual([]);
});

test('a prerequisite gets the number of the first issue', () => {
  const issue = demoIssues(FILES).find((candidate) => candidate.body.includes('#FIRST'));
  expect(issue && fillReferences(issue, 41).body).toContain('Depends on #41.');
});

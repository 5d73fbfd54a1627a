import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ANY_AGENT, Comparison, comparedAgentOf } from './agent-comparison.ts';

const task = (issueNumber: number, taskType = 'develop') => ({ repoId: 7, issueNumber, taskType });
const names = fc.stringMatching(/^[a-z]{1,8}$/);
const weights = fc.dictionary(names, fc.integer({ min: 1, max: 1_000 }), { minKeys: 2, maxKeys: 20 });

describe('comparedAgentOf', () => {
  test('returns any agent when the task type is not compared', () => {
    expect(comparedAgentOf(null, task(1))).toBe(ANY_AGENT);
    expect(comparedAgentOf({ review: { claude: 1, codex: 1 } }, task(1))).toBe(ANY_AGENT);
  });

  test('returns one of the agents, whatever the order of the configuration, when the type is compared', () => {
    fc.assert(
      fc.property(weights, fc.nat(), (all, number) => {
        const agent = comparedAgentOf({ develop: all }, task(number));
        const reversed = Object.fromEntries(Object.entries(all).reverse());
        expect(Object.keys(all)).toContain(agent);
        expect(comparedAgentOf({ develop: reversed }, task(number))).toBe(agent);
      }),
    );
  });

  test('divides tasks by weight when there are many', () => {
    const all = Array.from({ length: 10_000 }, (_, n) =>
      comparedAgentOf({ develop: { claude: 3, codex: 1 } }, task(n)),
    );
    const share = all.filter((agent) => agent === 'claude').length / all.length;
    expect(Math.abs(share - 0.75)).toBeLessThan(0.02);
  });

  test('selects independently when an issue has tasks of two types', () => {
    const both = { claude: 1, codex: 1 };
    const same = Array.from({ length: 10_000 }, (_, n) => {
      const [one, other] = ['develop', 'review'].map((type) =>
        comparedAgentOf({ develop: both, review: both }, task(n, type)),
      );
      return one === other;
    });
    expect(Math.abs(same.filter(Boolean).length / same.length - 0.5)).toBeLessThan(0.02);
  });
});

describe('Comparison', () => {
  test.each([
    [{ develop: { claude: 0, codex: 1 } }, /whole number from 1 to 1000/],
    [{ develop: { claude: -5, codex: 1 } }, /whole number from 1 to 1000/],
    [{ develop: { claude: 0.5, codex: 1 } }, /whole number from 1 to 1000/],
    [{ develop: { claude: '50', codex: 1 } }, /whole number from 1 to 1000/],
    [{ develop: { claude: 1_001, codex: 1 } }, /whole number from 1 to 1000/],
    [{ develop: { claude: 50 } }, /must name 2 to 20 agents/],
    [{ develop: {} }, /must name 2 to 20 agents/],
    [{ develop: { ' claude': 50, codex: 50 } }, /is no agent name/],
    [{ develop: { '': 50, codex: 50 } }, /is no agent name/],
    [{ develop: { ['x'.repeat(101)]: 50, codex: 50 } }, /is no agent name/],
    [{ merge: { claude: 50, codex: 50 } }, /is no task type whose agents can be compared; types are analyze/],
  ])('rejects %j when it is no comparison', (value, message) => {
    const { error } = Comparison.safeParse(value);
    expect(error?.issues.map((issue) => issue.message).join('\n')).toMatch(message);
  });

  test('accepts weights of agents when each is a positive whole number', () => {
    const value = { develop: { claude: 50, 'my agent --acp': 50 }, review: { a: 1, b: 2, c: 1_000 } };
    expect(Comparison.parse(value)).toEqual(value);
  });
});

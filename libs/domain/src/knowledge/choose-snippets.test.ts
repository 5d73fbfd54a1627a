import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { INTELLIGENCE_KINDS, INTELLIGENCE_STATUSES } from './items.ts';
import { chooseSnippets, RETRIEVAL_AGENTS, relevance, type SnippetCandidate } from './retrieval.ts';

const unit = fc.double({ min: 0, max: 1, noNaN: true });
const fit = fc.record({ text: unit, scope: unit, precedent: unit, meaning: unit, repoWide: unit });
const candidate: fc.Arbitrary<SnippetCandidate> = fc.record({
  fit,
  reasons: fc.constant(['says "x"']),
  item: fc.record({
    id: fc.uuid(),
    kind: fc.constantFrom(...INTELLIGENCE_KINDS),
    title: fc.string({ minLength: 1, maxLength: 5 }),
    summary: fc.string({ maxLength: 200 }),
    status: fc.constantFrom(...INTELLIGENCE_STATUSES),
    confidence: fc.option(unit),
    qualityScore: fc.option(unit),
    source: fc.constant('report'),
    scopes: fc.array(
      fc.record({ kind: fc.constantFrom('file' as const, 'symbol' as const), ref: fc.constantFrom('a', 'b') }),
    ),
    evidence: fc.constant([]),
    evidenceMissing: fc.boolean(),
  }),
});

test('gives or counts every found item, within the budget', () => {
  const terms = fc.record({
    agent: fc.constantFrom(...RETRIEVAL_AGENTS),
    budget: fc.nat(2_000),
    files: fc.option(fc.constant(new Set(['a']))),
    agentKnowledge: fc.constantFrom('marked' as const, 'approved' as const),
  });
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 30 }), terms, (candidates, { agentKnowledge, ...rest }) => {
      const { budget } = rest;
      const countTokens = (text: string) => text.length;
      const { snippets, omitted, tokenEstimate } = chooseSnippets(candidates, {
        ...rest,
        countTokens,
        agentKnowledge,
      });
      const left = [...omitted.values()].reduce((sum, count) => sum + count, 0);
      expect(snippets.length + left).toBe(candidates.length);
      expect(tokenEstimate).toBeLessThanOrEqual(budget);
      expect(tokenEstimate).toBe(snippets.reduce((sum, snippet) => sum + countTokens(JSON.stringify(snippet)), 0));
      const statusOf = new Map(candidates.map(({ item }) => [item.id, item.status]));
      const given = agentKnowledge === 'approved' ? ['approved'] : ['approved', 'proposed', 'observed'];
      for (const { itemId, approved, origin, title, summary } of snippets) {
        const status = statusOf.get(itemId);
        expect(given).toContain(status);
        expect([origin, approved]).toEqual(['agent', status === 'approved']);
        expect([
          title.startsWith('[unverified] '),
          summary.startsWith('[Reported by an agent and not approved'),
        ]).toEqual([!approved, !approved]);
      }
    }),
  );
});

test('relevance increases with the match, and is 0 without one', () => {
  const trust = { kind: 'invariant', status: 'approved', confidence: 0.5, qualityScore: null } as const;
  const nothing = { text: 0, scope: 0, precedent: 0, meaning: 0, repoWide: 0 };
  expect(relevance('developer', nothing, trust)).toBe(0);
  fc.assert(
    fc.property(fit, fc.constantFrom('text', 'scope', 'precedent', 'meaning', 'repoWide'), (of, part) => {
      const better = { ...of, [part]: 1 };
      expect(relevance('developer', better, trust)).toBeGreaterThanOrEqual(relevance('developer', of, trust));
      expect(relevance('developer', of, trust)).toBeGreaterThanOrEqual(
        relevance('developer', of, { ...trust, status: 'observed' }),
      );
    }),
  );
});

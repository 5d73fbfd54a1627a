import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SLATE_SIZES } from '../tracks/track.ts';
import type { StrategyInput } from './inputs.ts';
import { proposeStrategy } from './propose.ts';
import { appliesByItself, isLarger, tracksAfter } from './risk.ts';
import { STRATEGY_RULES, type StrategyChange } from './snapshot.ts';
import { namedBy } from './words.ts';

const NAMES = ['tests', 'docs', 'ci', 'planning', 'cost', 'security', 'ui'];
const KPIS = ['block_rate', 'mean_cost_usd', 'cycle_time_p50', 'autonomy_rate', 'failure_blocked_rate'];
const slates = fc.option(
  fc.array(
    fc.record(
      {
        size: fc.constantFrom(...SLATE_SIZES),
        count: fc.integer({ min: 1, max: 4 }),
        theme: fc.constantFrom(...NAMES),
      },
      { requiredKeys: ['size', 'count'] },
    ),
    { minLength: 1, maxLength: 4 },
  ),
  { nil: null },
);
const weights = fc.integer({ min: 0, max: 40 }).map((quarter) => quarter / 4);
const allTracks = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom(...NAMES),
    label: fc.constantFrom('', 'svc-tests', 'quality'),
    enabled: fc.boolean(),
    weight: weights,
    proposal: slates,
  }),
  { selector: ({ name }) => name },
);
const terms = fc.array(fc.constantFrom(...NAMES, ...KPIS, ...SLATE_SIZES, 'high', 'nonsense'), { maxLength: 3 });
const readings = fc.uniqueArray(
  fc.record({
    kpi: fc.constantFrom(...KPIS),
    value: fc.option(fc.double({ min: 0, max: 10, noNaN: true }), { nil: null }),
    baseline: fc.option(fc.double({ min: 0, max: 10, noNaN: true }), { nil: null }),
    regressed: fc.boolean(),
    magnitude: fc.constantFrom('low', 'medium', 'high', 'large'),
  }),
  { selector: ({ kpi }) => kpi },
);
const groups = fc.uniqueArray(
  fc.record({
    findingType: fc.constantFrom('ci_failure', 'risk', 'obs'),
    category: fc.constantFrom('', ...NAMES),
    severity: fc.constantFrom('info' as const, 'low' as const, 'medium' as const, 'high' as const, 'critical' as const),
    count: fc.integer({ min: 1, max: 5 }),
    exampleId: fc.uuid(),
    exampleTitle: fc.string(),
  }),
  { selector: ({ findingType, category, severity }) => `${findingType} ${category} ${severity}` },
);
const inputs = fc.record({
  charter: fc.record({
    version: fc.integer({ min: 1, max: 9 }),
    envelope: fc.record({
      max_auto_size: fc.constantFrom(...SLATE_SIZES),
      prefer: terms,
      avoid: terms,
      escalate_when: terms,
    }),
  }),
  kpis: readings,
  findings: groups,
  tracks: allTracks,
  past: fc.constant([] as StrategyChange[]),
});

describe('any proposal', () => {
  test('increases nothing that the charter avoids, and can be applied to its input tracks', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const { changes, risk } = proposeStrategy(given);
        expect(risk.violations).toEqual([]);
        const places = changes.map(({ track: name, field }) => `${name} ${field}`);
        expect(new Set(places).size).toBe(places.length);
        for (const { track: name, field, from, to } of changes) {
          expect(given.tracks.find((each) => each.name === name)?.[field]).toEqual(from);
          expect(to).not.toEqual(from);
        }
      }),
    );
  });

  test('names rule and evidence of each change', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const { changes, evidence, rationale } = proposeStrategy(given);
        const refs = evidence.map(({ ref }) => ref);
        for (const change of changes) {
          expect(STRATEGY_RULES).toContain(change.rule);
          expect(refs).toEqual(expect.arrayContaining(change.evidence));
          expect(rationale).toContain(change.reason);
        }
      }),
    );
  });

  test('does not depend on the order of its inputs', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const turned = { ...given, tracks: given.tracks.toReversed(), kpis: given.kpis.toReversed() };
        expect(proposeStrategy(turned).changes).toEqual(proposeStrategy(given).changes);
      }),
    );
  });

  test('a proposal is applied automatically only within max_auto_size, without escalations, and without enabling a track', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const { changes, risk } = proposeStrategy(given);
        const { max_auto_size, escalate_when } = given.charter.envelope;
        if (!appliesByItself(risk)) return;
        expect(isLarger(risk.maxSize, max_auto_size)).toBe(false);
        for (const change of changes) {
          expect([change.field, change.to]).not.toEqual(['enabled', true]);
          expect(namedBy(escalate_when, [change.track, change.field, ...change.about])).toEqual([]);
        }
      }),
    );
  });

  test('keeps weights near normal over weeks, and restores them when no concern is left', () => {
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 8 }), (given, weeks) => {
        const charter = { ...given.charter, envelope: { ...given.charter.envelope, prefer: [], avoid: [] } };
        let state: StrategyInput = { ...given, charter };
        const apply = () => {
          const changes = proposeStrategy(state).changes.filter(({ field }) => field !== 'enabled');
          state = { ...state, tracks: tracksAfter(state.tracks, changes), past: [...changes, ...state.past] };
          return changes;
        };
        for (let week = 0; week < weeks; week += 1) apply();
        for (const { name, weight } of state.tracks) {
          const normal = given.tracks.find((each) => each.name === name)?.weight ?? 0;
          expect(weight).toBeGreaterThanOrEqual(normal / 4 - 0.01);
          expect(weight).toBeLessThanOrEqual(normal * 4 + 0.01);
        }
        state = { ...state, kpis: [], findings: [] };
        for (let week = 0; week < 3; week += 1) apply();
        expect(state.tracks).toEqual(given.tracks);
        expect(apply()).toEqual([]);
      }),
    );
  });
});

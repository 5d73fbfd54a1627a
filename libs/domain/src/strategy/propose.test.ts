import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SLATE_SIZES } from '../tracks/slate.ts';
import { tracksAfter } from './effect.ts';
import type { KpiReading, OpenFindings, StrategyInput, StrategyTrack } from './inputs.ts';
import { proposeStrategy } from './propose.ts';
import { appliesByItself, assessRisk } from './risk.ts';
import { isLarger } from './sizes.ts';
import { STRATEGY_RULES, type StrategyChange } from './snapshot.ts';
import { namedBy } from './words.ts';

const ENVELOPE = { max_auto_size: 'medium' as const, prefer: [], avoid: [], escalate_when: [] };
const track = (name: string, over: Partial<StrategyTrack> = {}): StrategyTrack => ({
  name,
  label: '',
  enabled: true,
  weight: 1,
  proposal: null,
  ...over,
});
const regressed = (kpi: string, magnitude = 'medium'): KpiReading => ({
  kpi,
  value: 0.3,
  baseline: 0.2,
  regressed: true,
  magnitude,
});
const findings = (category: string, over: Partial<OpenFindings> = {}): OpenFindings => ({
  findingType: 'obs',
  category,
  severity: 'medium',
  count: 2,
  exampleId: `id-${category}`,
  exampleTitle: `About ${category}`,
  ...over,
});
const input = (over: Partial<StrategyInput> & { envelope?: Partial<typeof ENVELOPE> } = {}): StrategyInput => {
  const { envelope, ...rest } = over;
  return {
    charter: { version: 3, envelope: { ...ENVELOPE, ...envelope } },
    kpis: [],
    findings: [],
    tracks: [],
    past: [],
    ...rest,
  };
};
const short = ({ changes }: { changes: StrategyChange[] }) =>
  changes.map(({ track: name, field, from, to, rule }) => [name, field, from, to, rule]);

describe('what the rules change', () => {
  test('nothing, where nothing is worse and all is normal', () => {
    const proposal = proposeStrategy(input({ tracks: [track('tests'), track('docs', { weight: 3 })] }));
    expect(proposal).toMatchObject({ changes: [], intent: 'Leave the tracks as they are.', evidence: [] });
  });

  test('a track that helps with a regressed KPI weighs more, and says why', () => {
    const { changes, ...proposal } = proposeStrategy(
      input({ kpis: [regressed('cycle_time_p50')], tracks: [track('ci-speed'), track('docs')] }),
    );
    expect(changes).toEqual([
      {
        track: 'ci-speed',
        field: 'weight',
        from: 1,
        to: 1.5,
        rule: 'regressed-kpi',
        reason: 'ci-speed: it helps with cycle_time_p50',
        evidence: ['kpi:cycle_time_p50'],
        about: ['cycle_time_p50'],
      },
    ]);
    expect(proposal.evidence).toEqual([
      {
        kind: 'kpi',
        ref: 'kpi:cycle_time_p50',
        summary: 'cycle_time_p50 is 0.3, was 0.2: a medium regression',
      },
    ]);
    expect(proposal.intent).toBe('More work on ci-speed.');
    expect(proposal.rationale).toBe('ci-speed: it helps with cycle_time_p50 (regressed-kpi): weight 1 -> 1.5');
    expect(proposal.slate).toEqual([
      { track: 'ci-speed', size: 'small', count: 1 },
      { track: 'docs', size: 'small', count: 1 },
    ]);
  });

  test('a KPI that did not regress, and few findings that matter little, change nothing', () => {
    const kpis = [{ ...regressed('cycle_time_p50'), regressed: false }];
    const few = [findings('tests', { severity: 'low', count: 3 }), findings('docs', { severity: 'info', count: 90 })];
    expect(proposeStrategy(input({ kpis, findings: few, tracks: [track('tests'), track('ci')] })).changes).toEqual([]);
  });

  test('findings about one thing count together; tracks are known by name, label and themes', () => {
    const some = [
      findings('flaky', { severity: 'low', count: 2 }),
      findings('flaky', { severity: 'medium', count: 1 }),
    ];
    const tracks = [
      track('one', { label: 'svc-flaky' }),
      track('two', { proposal: [{ size: 'small', count: 1, theme: 'Flaky checks' }] }),
      track('three'),
    ];
    expect(short(proposeStrategy(input({ findings: some, tracks })))).toEqual([
      ['one', 'weight', 1, 1.5, 'open-findings'],
      ['two', 'weight', 1, 1.5, 'open-findings'],
    ]);
  });

  test('grave findings ask for work about them, of a size that fits', () => {
    const slate = [{ size: 'small' as const, count: 2 }];
    const grave = [findings('injection', { findingType: 'risk', severity: 'critical', count: 1 })];
    const proposal = proposeStrategy(input({ findings: grave, tracks: [track('risk', { proposal: slate })] }));
    expect(short(proposal)[0]).toEqual([
      'risk',
      'proposal',
      slate,
      [...slate, { size: 'large', count: 1, theme: 'injection' }],
      'open-findings',
    ]);
    expect(proposal.risk).toMatchObject({
      maxSize: 'large',
      withinEnvelope: true,
      needsApproval: ['it asks for large work, above max_auto_size medium'],
    });
    expect(proposal.slate).toContainEqual({ track: 'risk', size: 'large', count: 1 });
  });

  test('what the charter prefers weighs more, and grows faster where it helps', () => {
    const tracks = [track('docs'), track('tests')];
    const envelope = { prefer: ['Docs', 'TESTS'] as never };
    const proposal = proposeStrategy(input({ envelope, tracks, kpis: [regressed('autonomy_rate')] }));
    expect(short(proposal)).toEqual([
      ['docs', 'weight', 1, 2, 'regressed-kpi'],
      ['tests', 'weight', 1, 2, 'regressed-kpi'],
    ]);
    expect(short(proposeStrategy(input({ envelope, tracks: [track('docs')] })))).toEqual([
      ['docs', 'weight', 1, 1.5, 'charter-prefers'],
    ]);
  });

  test('what the charter avoids is turned off, or taken from the slate', () => {
    const envelope = { avoid: ['Big Rewrites', 'epic'] as never };
    const epic = { size: 'epic' as const, count: 1 };
    const small = { size: 'small' as const, count: 1 };
    const tracks = [
      track('big-rewrites'),
      track('docs', { proposal: [epic, small] }),
      track('ui', { proposal: [epic] }),
    ];
    expect(short(proposeStrategy(input({ envelope, tracks })))).toEqual([
      ['big-rewrites', 'enabled', true, false, 'charter-avoids'],
      ['docs', 'proposal', [epic, small], [small], 'charter-avoids'],
      ['ui', 'enabled', true, false, 'charter-avoids'],
    ]);
  });

  test('under strain, tracks that help with nothing weigh less', () => {
    const proposal = proposeStrategy(
      input({ kpis: [regressed('block_rate', 'high')], tracks: [track('docs'), track('planning')] }),
    );
    expect(short(proposal)).toEqual([
      ['planning', 'weight', 1, 1.5, 'regressed-kpi'],
      ['docs', 'weight', 1, 0.5, 'under-strain'],
    ]);
    const mild = input({ kpis: [regressed('block_rate', 'medium')], tracks: [track('docs')] });
    expect(proposeStrategy(mild).changes).toEqual([]);
  });

  test('a track that is off is turned on only by an operator', () => {
    const proposal = proposeStrategy(
      input({ kpis: [regressed('mean_cost_usd')], tracks: [track('cost', { enabled: false })] }),
    );
    expect(short(proposal)).toEqual([['cost', 'enabled', false, true, 'regressed-kpi']]);
    expect(proposal.risk.needsApproval).toEqual(['it enables cost']);
  });

  test('what is worse and no track is about is told', () => {
    const proposal = proposeStrategy(input({ kpis: [regressed('mean_turns')], tracks: [track('ui')] }));
    expect(proposal.rationale).toBe('No track is about this: mean_turns is 0.3, was 0.2: a medium regression');
  });

  test('at most ten changes, the gravest first; the rest is told', () => {
    const tracks = Array.from({ length: 14 }, (_, index) => track(`tests-${index}`));
    const { changes, rationale } = proposeStrategy(input({ kpis: [regressed('autonomy_rate')], tracks }));
    expect(changes).toHaveLength(10);
    expect(rationale).toContain('4 further changes are left for another week.');
  });
});

describe('back to normal', () => {
  const weighed = (from: number, to: number): StrategyChange => ({
    track: 'tests',
    field: 'weight',
    from,
    to,
    rule: 'regressed-kpi',
    reason: '',
    evidence: [],
    about: [],
  });

  test('over the steps that strategy made, newest first', () => {
    const past = [weighed(1.5, 2.25), weighed(1, 1.5)];
    expect(short(proposeStrategy(input({ past, tracks: [track('tests', { weight: 2.25 })] })))).toEqual([
      ['tests', 'weight', 2.25, 1, 'back-to-normal'],
    ]);
  });

  test('not over what somebody has set since: that is normal now', () => {
    const past = [weighed(3, 4.5), weighed(1, 1.5)];
    expect(short(proposeStrategy(input({ past, tracks: [track('tests', { weight: 4.5 })] })))).toEqual([
      ['tests', 'weight', 4.5, 3, 'back-to-normal'],
    ]);
    expect(proposeStrategy(input({ past, tracks: [track('tests', { weight: 7 })] })).changes).toEqual([]);
  });

  test('a slate loses the work that was added to it', () => {
    const before = [{ size: 'small' as const, count: 2 }];
    const grave = [findings('risk', { severity: 'high' })];
    const first = proposeStrategy(input({ findings: grave, tracks: [track('risk', { proposal: before })] }));
    const [after] = tracksAfter([track('risk', { proposal: before })], first.changes);
    if (!after) throw new Error('no track');
    const second = proposeStrategy(input({ past: first.changes, tracks: [after] }));
    expect(short(second)).toContainEqual(['risk', 'proposal', after.proposal, before, 'back-to-normal']);
  });
});

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
  test('asks for nothing that the charter avoids, and can be applied to the tracks that it was made from', () => {
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

  test('says for each change which rule and which evidence', () => {
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

  test('is the same whatever the order of what it is made from', () => {
    fc.assert(
      fc.property(inputs, (given) => {
        const turned = { ...given, tracks: given.tracks.toReversed(), kpis: given.kpis.toReversed() };
        expect(proposeStrategy(turned).changes).toEqual(proposeStrategy(given).changes);
      }),
    );
  });

  test('is applied by itself only within max_auto_size, without what escalates, and turning nothing on', () => {
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

  test('week after week keeps weights near normal, and gives all back when nothing is wrong any more', () => {
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

describe('risk', () => {
  const raise: StrategyChange = {
    track: 'tests',
    field: 'weight',
    from: 1,
    to: 2,
    rule: 'open-findings',
    reason: '',
    evidence: [],
    about: ['ci_failure', 'high'],
  };
  const large = [track('tests', { proposal: [{ size: 'large', count: 1, theme: 'Old Parser' }] })];

  test.each(['tests', 'TESTS ', 'large', 'old-parser', 'CI failure', 'weight'])('more of "%s" violates it', (entry) => {
    const envelope = { ...ENVELOPE, avoid: [entry] };
    expect(assessRisk([raise], large, envelope)).toMatchObject({
      withinEnvelope: false,
      violations: [`tests weight: the charter avoids "${entry}"`],
    });
    const less = { ...raise, from: 2, to: 1 } as StrategyChange;
    expect(assessRisk([less], large, envelope)).toMatchObject({ withinEnvelope: true, maxSize: 'small' });
  });

  test('the size is that of the work which is asked more of', () => {
    expect(assessRisk([raise], large, ENVELOPE).maxSize).toBe('large');
    const trimmed = { ...raise, field: 'proposal', from: large[0]?.proposal, to: null } as StrategyChange;
    expect(assessRisk([raise, trimmed], large, ENVELOPE).maxSize).toBe('small');
  });

  test('without a charter all waits for an operator, and nothing is forbidden', () => {
    const risk = assessRisk([raise], large, null);
    expect(risk).toMatchObject({ withinEnvelope: true, needsApproval: ['there is no active charter'] });
    expect(appliesByItself(risk)).toBe(false);
  });

  test('what escalates waits also where it asks for less', () => {
    const less = { ...raise, from: 2, to: 1 } as StrategyChange;
    const risk = assessRisk([less], large, { ...ENVELOPE, escalate_when: ['ci_failure'] });
    expect(risk.needsApproval).toEqual(['tests weight: the charter escalates "ci_failure"']);
  });
});

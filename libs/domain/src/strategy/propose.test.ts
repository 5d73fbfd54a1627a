import { describe, expect, test } from '@jest/globals';
import type { KpiReading, OpenFindings, StrategyInput, StrategyTrack } from './inputs.ts';
import { proposeStrategy } from './propose.ts';
import { tracksAfter } from './risk.ts';
import type { StrategyChange } from './snapshot.ts';

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

describe('the rules', () => {
  test('change nothing without concerns', () => {
    const proposal = proposeStrategy(input({ tracks: [track('tests'), track('docs', { weight: 3 })] }));
    expect(proposal).toMatchObject({ changes: [], intent: 'Leave the tracks as they are.', evidence: [] });
  });

  test('raise the weight of a track that matches a regressed KPI, with a reason', () => {
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

  test('change nothing for a KPI without regression and few minor findings', () => {
    const kpis = [{ ...regressed('cycle_time_p50'), regressed: false }];
    const few = [findings('tests', { severity: 'low', count: 3 }), findings('docs', { severity: 'info', count: 90 })];
    expect(proposeStrategy(input({ kpis, findings: few, tracks: [track('tests'), track('ci')] })).changes).toEqual([]);
  });

  test('combine findings of a category and match tracks by name, label and themes', () => {
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

  test('add slate entries of a fitting size for severe findings', () => {
    const slate = [{ size: 'small' as const, count: 2 }];
    const grave = [findings('injection', { findingType: 'risk', severity: 'critical', count: 1 })];
    const proposal = proposeStrategy(input({ findings: grave, tracks: [track('risk', { proposal: slate })] }));
    expect(short(proposal)[0]).toEqual([
      'risk',
      'proposal',
      slate,
      [...slate, { size: 'large', count: 1, theme: 'agent report: injection' }],
      'open-findings',
    ]);
    expect(proposal.risk).toMatchObject({
      maxSize: 'large',
      withinEnvelope: true,
      needsApproval: ['it asks for large work, above max_auto_size medium'],
    });
    expect(proposal.slate).toContainEqual({ track: 'risk', size: 'large', count: 1 });
    expect(proposal.evidence).toEqual([
      {
        kind: 'finding',
        ref: 'finding:id-injection',
        summary: '1 open finding about injection, the worst critical, such as "About injection"',
      },
    ]);
  });

  test('raise the weight of preferred tracks, more for matching ones', () => {
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

  test('disable avoided tracks and remove avoided slate entries', () => {
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

  test('lower the weight of tracks without a concern under strain', () => {
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

  test('propose enabling a track for an operator only', () => {
    const proposal = proposeStrategy(
      input({ kpis: [regressed('mean_cost_usd')], tracks: [track('cost', { enabled: false })] }),
    );
    expect(short(proposal)).toEqual([['cost', 'enabled', false, true, 'regressed-kpi']]);
    expect(proposal.risk.needsApproval).toEqual(['it enables cost']);
  });

  test('list concerns without a matching track', () => {
    const proposal = proposeStrategy(input({ kpis: [regressed('mean_turns')], tracks: [track('ui')] }));
    expect(proposal.rationale).toBe('No track is about this: mean_turns is 0.3, was 0.2: a medium regression');
  });

  test('make at most ten changes, the most severe first, and list the rest', () => {
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

  test('undoes the changes of strategy, newest first', () => {
    const past = [weighed(1.5, 2.25), weighed(1, 1.5)];
    expect(short(proposeStrategy(input({ past, tracks: [track('tests', { weight: 2.25 })] })))).toEqual([
      ['tests', 'weight', 2.25, 1, 'back-to-normal'],
    ]);
  });

  test('keeps a value that an operator has set since', () => {
    const past = [weighed(3, 4.5), weighed(1, 1.5)];
    expect(short(proposeStrategy(input({ past, tracks: [track('tests', { weight: 4.5 })] })))).toEqual([
      ['tests', 'weight', 4.5, 3, 'back-to-normal'],
    ]);
    expect(proposeStrategy(input({ past, tracks: [track('tests', { weight: 7 })] })).changes).toEqual([]);
  });

  test('removes added entries from a slate', () => {
    const before = [{ size: 'small' as const, count: 2 }];
    const grave = [findings('risk', { severity: 'high' })];
    const first = proposeStrategy(input({ findings: grave, tracks: [track('risk', { proposal: before })] }));
    const [after] = tracksAfter([track('risk', { proposal: before })], first.changes);
    if (!after) throw new Error('no track');
    const second = proposeStrategy(input({ past: first.changes, tracks: [after] }));
    expect(short(second)).toContainEqual(['risk', 'proposal', after.proposal, before, 'back-to-normal']);
  });
});

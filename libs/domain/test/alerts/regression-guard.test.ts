import { describe, expect, test } from '@jest/globals';
import { judgeKpi, KPIS, type KpiWeek, magnitudeOf } from '@pipeline/domain';
import fc from 'fast-check';

const week = (value: number | null, sampleSize = 10): KpiWeek => ({ value, sampleSize });
const risen = (to: number) => judgeKpi('block_rate', [week(to), week(0.5), week(0.5), week(0.5), week(0.5)]);

describe('a KPI against its baseline', () => {
  test('the baseline is the mean of the earlier weeks with a value', () => {
    expect(judgeKpi('mean_turns', [week(30), week(10), week(null, 0), week(30), week(20)])).toEqual({
      currentValue: 30,
      baselineValue: 20,
      relativeDelta: 0.5,
      currentSampleSize: 10,
      baselineSampleSize: 30,
      regressed: true,
      magnitude: 'high',
      direction: 'rise',
    });
  });

  test('regresses from 20 % on', () => {
    expect(risen(0.6)).toMatchObject({ regressed: true, magnitude: 'medium' });
    expect(risen(0.599)).toMatchObject({ regressed: false, magnitude: 'low' });
  });

  test('does not regress on an improvement; autonomy regresses by falling', () => {
    const halved = [week(40), week(80), week(80), week(80), week(80)];
    expect(judgeKpi('block_rate', halved)).toMatchObject({ regressed: false, magnitude: 'high', relativeDelta: -0.5 });
    expect(judgeKpi('autonomy_rate', halved)).toMatchObject({ regressed: true, direction: 'fall' });
  });

  test.each([
    ['too few issues now', [week(1, 4), week(0.1), week(0.1), week(0.1), week(0.1)]],
    ['too few issues before', [week(1), week(0.1, 1), week(0.1, 1), week(0.1, 1), week(0.1, 1)]],
    ['a baseline of 0', [week(1), week(0), week(0), week(0), week(0)]],
    ['no baseline', [week(1), week(null, 0), week(null, 0), week(null, 0), week(null, 0)]],
    ['no value now', [week(null, 0), week(1), week(1), week(1), week(1)]],
    ['nothing at all', []],
  ])('%s: no regression', (_, weeks) => {
    expect(judgeKpi('block_rate', weeks).regressed).toBe(false);
  });

  test('regresses with 5 issues on either side', () => {
    const weeks = [week(1, 5), week(0.1, 2), week(0.1, 3), week(null, 0), week(null, 0)];
    expect(judgeKpi('block_rate', weeks)).toMatchObject({ regressed: true, baselineSampleSize: 5 });
  });

  test('covers all magnitudes without a gap', () => {
    expect([null, 0, 0.19, -0.2, 0.49, 0.5, -0.99, 1, 7].map(magnitudeOf)).toEqual([
      'low',
      'low',
      'low',
      'medium',
      'medium',
      'high',
      'high',
      'large',
      'large',
    ]);
  });

  test('regresses only in its direction, and never with severity low', () => {
    const weeks = fc.array(
      fc.record({ value: fc.option(fc.double({ min: 0, max: 100, noNaN: true })), sampleSize: fc.nat(20) }),
      { minLength: 5, maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.constantFrom(...KPIS), weeks, (kpi, all) => {
        const verdict = judgeKpi(kpi, all);
        if (!verdict.regressed) return;
        const delta = (verdict.currentValue ?? 0) - (verdict.baselineValue ?? 0);
        expect(Math.sign(delta)).toBe(verdict.direction === 'rise' ? 1 : -1);
        expect(verdict.magnitude).not.toBe('low');
      }),
    );
  });
});

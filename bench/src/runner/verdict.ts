import { type Sample, totalOf } from '../measure/sample.ts';
import type { Bound, Case, Line, Verdict } from './model.ts';

/** Above this the rounds disagree too much for a pass. */
const MAX_SPREAD = 0.4;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[(sorted.length - 1) >> 1], sorted[middle]];
  return (low + high) / 2;
}

/** (max - min) / median; 0 for a single value. */
export const spreadOf = (values: readonly number[]): number =>
  values.length < 2 ? 0 : (Math.max(...values) - Math.min(...values)) / median(values);

export const keeps = (ratio: number, bound: Bound): boolean =>
  'atLeast' in bound ? ratio >= bound.atLeast : ratio <= bound.atMost;

/**
 * Judges the median of the ratios. Rounds that spread by more than 0.4 prove no pass; they prove a miss only when every
 * one of them misses.
 */
export function judge(ratios: readonly number[], bound: Bound): Verdict {
  const noisy = spreadOf(ratios) > MAX_SPREAD;
  if (noisy) return ratios.some((ratio) => keeps(ratio, bound)) ? 'inconclusive' : 'MISS';
  return keeps(median(ratios), bound) ? 'pass' : 'MISS';
}

/** A quarter more lenient, for runs of few rounds. */
export const loosened = (bound: Bound): Bound =>
  'atLeast' in bound ? { atLeast: bound.atLeast * 0.75 } : { atMost: bound.atMost * 1.25 };

/**
 * The exit status of a run and its last line: 0 when every goal is kept, 1 when one is missed or was not measured, 3 when
 * none is missed and the rounds of one disagree too much for a verdict.
 */
export function conclusionOf(
  lines: readonly Pick<Line, 'goal' | 'verdict'>[],
  unmeasured: readonly number[],
): { status: 0 | 1 | 3; text: string } {
  const goalsWith = (verdict: Verdict) =>
    new Set(lines.filter((line) => line.verdict === verdict).map(({ goal }) => goal));
  const [missed, unclear] = [goalsWith('MISS'), goalsWith('inconclusive')];
  const parts = [
    ...(missed.size > 0 ? [`missed: goals ${[...missed].join(', ')}`] : []),
    ...(unmeasured.length > 0 ? [`not measured: goals ${unmeasured.join(', ')}`] : []),
    ...(unclear.size > 0 ? [`inconclusive: goals ${[...unclear].join(', ')}`] : []),
  ];
  const status = missed.size + unmeasured.length > 0 ? 1 : unclear.size > 0 ? 3 : 0;
  return { status, text: parts.length === 0 ? 'every goal is kept' : parts.join('; ') };
}

/** @param rounds per round the sample of ours, then one per anchor, in the order of the case. */
export function linesOf(goal: number, of: Case, rounds: readonly (readonly Sample[])[]): Line[] {
  const ours = column(rounds, 0);
  return of.anchors.map(({ contender, bound }, index) => {
    const anchor = column(rounds, index + 1);
    const samples = ours.flatMap((sample, round): [Sample, Sample][] => {
      const beside = anchor[round];
      return beside ? [[sample, beside]] : [];
    });
    const ratios = samples.map(([own, beside]) => own.value / beside.value);
    const cpuUs: [number | null, number | null] = [lowestCpu(ours), lowestCpu(anchor)];
    return {
      goal,
      title: of.title,
      unit: of.unit,
      ours: median(ours.map((sample) => sample.value)),
      anchor: contender.name,
      anchorValue: median(anchor.map((sample) => sample.value)),
      ratio: median(ratios),
      bound: bound ?? null,
      verdict: bound ? judge(ratios, bound) : null,
      spread: spreadOf(ratios),
      ratios,
      cpuUs,
      cpuRatio: cpuUs[0] !== null && cpuUs[1] !== null ? cpuUs[0] / cpuUs[1] : null,
      samples,
    };
  });
}

const column = (rounds: readonly (readonly Sample[])[], index: number): Sample[] =>
  rounds.flatMap((round) => round[index] ?? []);

/** The lowest round: noise only ever adds. */
function lowestCpu(samples: readonly Sample[]): number | null {
  const known = samples.flatMap(({ cpu }) => (cpu ? [totalOf(cpu)] : []));
  return known.length === 0 ? null : Math.min(...known);
}

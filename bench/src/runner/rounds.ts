import { withDeadline } from '@pipeline/runtime';
import { type Sample, totalOf } from '../measure/sample.ts';
import type { Case } from './model.ts';
import { waitForQuiet } from './quiet.ts';
import { number } from './table.ts';

const SAMPLE_WITHIN_MS = 180_000;

export interface RoundOptions {
  rounds: number;
  signal: AbortSignal;
  say(line: string): void;
}

/**
 * Measures all contenders of a case in every round, each after a moment of quiet. Every other round goes backwards,
 * so that nobody always has the warmer or the fuller server.
 * @returns per round the samples in the order ours, anchors.
 * @throws DeadlineError when a sample takes longer than three minutes, and what a contender throws.
 */
export async function runRounds(of: Case, { rounds, signal, say }: RoundOptions): Promise<Sample[][]> {
  const contenders = [of.ours, ...of.anchors.map(({ contender }) => contender)];
  const results: Sample[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    const samples = new Map<number, Sample>();
    const order = [...contenders.keys()];
    for (const index of round % 2 === 0 ? order : order.reverse()) {
      const contender = contenders[index];
      if (!contender) continue;
      await waitForQuiet();
      signal.throwIfAborted();
      const sample = await withDeadline(contender.sample(), SAMPLE_WITHIN_MS, `${of.title}: ${contender.name}`);
      samples.set(index, sample);
      say(`${of.title}, round ${round + 1}: ${contender.name} ${number(sample.value)} ${of.unit}${cpuText(sample)}`);
    }
    results.push(contenders.flatMap((_, index) => samples.get(index) ?? []));
  }
  return results;
}

function cpuText({ cpu }: Sample): string {
  if (!cpu) return '';
  const parts = `load ${number(cpu.self)}, services ${number(cpu.services)}, postgres ${number(cpu.postgres)}`;
  return `, ${number(totalOf(cpu))} us CPU (${parts})`;
}

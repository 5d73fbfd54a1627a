import type { Bench, Case, Contender, Row } from '../../runner/model.ts';
import { median } from '../../runner/verdict.ts';
import { FIGURES, type Figure } from './figures.ts';
import { ingestCase } from './ingest.ts';
import { makeWeek, type Week } from './world.ts';

const MOST_MS = 50;

/**
 * Goal 13: figures of the whole deployment, by the store's functions over a week of ten million moves, beside plain SQL
 * over a table of the same moves with every index that helps it; the same over a tenth of the moves; and what keeping
 * the sums costs those who write. Checked: both give the same answer in every sample.
 */
export const analyticsRow: Row = {
  goal: 13,
  title: 'analytics',
  async open(bench: Bench) {
    const many = await makeWeek(bench, bench.quick ? 1_000_000 : 10_000_000);
    const few = await makeWeek(bench, bench.quick ? 100_000 : 1_000_000);
    const times = new Map<Figure, number[]>();
    const cases = FIGURES.flatMap((figure) => casesOf(figure, { many, few, times }));
    return {
      cases: [...cases, await ingestCase(bench)],
      facts: async () =>
        FIGURES.map((figure) => ({
          title: `${figure.name}: time`,
          value: median(times.get(figure) ?? []),
          unit: 'ms',
          bound: { atMost: MOST_MS },
        })),
    };
  },
};

interface Weeks {
  many: Week;
  few: Week;
  times: Map<Figure, number[]>;
}

function casesOf(figure: Figure, { many, few, times }: Weeks): Case[] {
  const oursOf = (week: Week): Contender => ({
    name: `ours, ${week.moves.toLocaleString('en-US')} moves`,
    async sample() {
      const value = await fastest(() => figure.ours(week));
      if (week === many) times.set(figure, [...(times.get(figure) ?? []), value]);
      return { value, cpu: null };
    },
  });
  const plain: Contender = {
    name: 'plain SQL',
    async sample() {
      requireSame(figure.name, await figure.ours(many), await figure.plain(many));
      return { value: await fastest(() => figure.plain(many)), cpu: null };
    },
  };
  return [
    {
      title: figure.name,
      unit: 'ms',
      ours: oursOf(many),
      anchors: [{ contender: plain, bound: { atMost: 1 / figure.faster } }],
    },
    {
      title: `${figure.name}, all moves / a tenth`,
      unit: 'ms',
      ours: oursOf(many),
      anchors: [{ contender: oursOf(few), bound: { atMost: 1.3 } }],
    },
  ];
}

function requireSame(what: string, ours: unknown, plain: unknown): void {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(plain)];
  if (a !== b) throw new Error(`${what}: ours says ${a.slice(0, 500)}, plain SQL ${b.slice(0, 500)}`);
}

const RUNS = 3;

/** Milliseconds of the fastest of some runs: the others measure the machine. */
async function fastest(run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < RUNS; n += 1) {
    const began = performance.now();
    await run();
    times.push(performance.now() - began);
  }
  return Math.min(...times);
}

import type { FileMethod } from './retrieval.ts';

/** A file that the task may change, as shown to agents and people. */
export interface CandidateFile {
  path: string;
  score: number;
  method: FileMethod;
  why: string;
}

/** One piece of evidence that a file is relevant. */
export interface FileSign {
  path: string;
  method: FileMethod;
  /** Strength among the signs of its method, from 0 to 1. */
  strength: number;
  why: string;
}

/** The weight of each method. A planned or changed file is certain. */
const WEIGHT: Record<FileMethod, number> = {
  planned: 3,
  changed: 3,
  path: 2.5,
  symbol: 1.5,
  text: 1,
  trigram: 0.8,
  precedent: 0.7,
  intelligence: 0.6,
};

const MAX_FILES = 20;
const MAX_REASONS = 3;

/** Sums the evidence per file. @returns the best 20; the method is that of the strongest evidence. */
export function rankFiles(signs: readonly FileSign[]): CandidateFile[] {
  const worth = ({ method, strength }: FileSign) => WEIGHT[method] * Math.min(1, Math.max(0, strength));
  return [...Map.groupBy(signs, ({ path }) => path)]
    .map(([path, own]) => {
      const strongest = own.toSorted((a, b) => worth(b) - worth(a));
      const score = own.reduce((sum, sign) => sum + worth(sign), 0);
      const reasons = [...new Set(strongest.map(({ why }) => why))].slice(0, MAX_REASONS);
      const method = (strongest[0] as FileSign).method;
      return { path, score: Math.round(score * 1_000) / 1_000, method, why: reasons.join('; ') };
    })
    .sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_FILES);
}

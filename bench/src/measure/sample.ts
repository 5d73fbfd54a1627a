import type { Cpu } from './cpu.ts';

/** One measurement of one contender. */
export interface Sample {
  /** In the unit of its case. */
  value: number;
  /** Per item; null where unknown or beside the point. */
  cpu: Cpu | null;
}

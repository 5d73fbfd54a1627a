import type { Reply } from '../../api/types.ts';

export type Worker = Reply<'workerFloor'>['items'][number];

const rankOf = ({ alert, idle }: Worker): number => (alert !== null ? 0 : idle ? 2 : 1);

/** Workers with an alert first, then those with a task, then idle ones; by id among equals. */
export const byTrouble = (a: Worker, b: Worker): number => rankOf(a) - rankOf(b) || (a.id < b.id ? -1 : 1);

/** Returns an id short enough to read: its last block. */
export const nameOf = (id: string): string => (id.length > 24 ? `${id.slice(0, 4)}…${id.slice(-8)}` : id);

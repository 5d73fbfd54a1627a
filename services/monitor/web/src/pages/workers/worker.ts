import type { Reply } from '../../api/types.ts';

export type Worker = Reply<'workerFloor'>['items'][number];

const rankOf = ({ alert, idle }: Worker): number => (alert !== null ? 0 : idle ? 2 : 1);

/** Workers with an alert first, then those with a task, then idle ones; by name among equals. */
export const byTrouble = (a: Worker, b: Worker): number => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1);

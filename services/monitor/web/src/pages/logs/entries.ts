import type { Reply } from '../../api/types.ts';

type LogEntry = Reply<'listLogs'>['items'][number];

export interface KeyedEntry extends LogEntry {
  /** Log entries have no id: time, agent, and the place among those that share both. */
  key: string;
}

/** Gives entries, newest first, keys that stay the same when newer ones come. */
export function keyedEntries(entries: readonly LogEntry[]): KeyedEntry[] {
  const seen = new Map<string, number>();
  const keyed = entries.toReversed().map((entry) => {
    const name = `${entry.timestamp}~${entry.agent}`;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return { ...entry, key: count === 1 ? name : `${name}~${count}` };
  });
  return keyed.reverse();
}

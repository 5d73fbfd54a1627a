import type { KeyedEntry } from './entries.ts';

const LONGEST = 400;
const isId = (name: string): boolean => /id$/i.test(name);

/** Returns the context of an entry in one line, cut to 400 characters: what a reader looks for first, ids last. */
export function contextText({ context }: Pick<KeyedEntry, 'context'>): string {
  const parts = Object.entries(context).map(([name, value]) => ({
    name,
    text: `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  }));
  const ordered = [...parts.filter(({ name }) => !isId(name)), ...parts.filter(({ name }) => isId(name))];
  return ordered
    .map(({ text }) => text)
    .join(' ')
    .slice(0, LONGEST);
}

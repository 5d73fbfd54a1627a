import { useEffect, useRef } from 'react';
import { preferences } from '../preferences/preferences.ts';
import { createSignal } from '../shared/signal.ts';

export interface Shortcut {
  /** One key such as `j`, a sequence such as `g o`, or a chord such as `mod+k`. */
  keys: string;
  description: string;
  group: 'Everywhere' | 'Pages' | 'Lists' | 'Issue';
}

interface Registered extends Shortcut {
  run: () => void;
}

/** Shortcuts of what is on the page, for the list of `?`. */
export const shortcuts = createSignal<readonly Registered[]>([]);

/** The second key of a sequence must follow within this time. */
const SEQUENCE_MS = 1_200;

/** Registers shortcuts as long as the component is mounted. The latest registration of a key wins. */
export function useShortcuts(entries: readonly Registered[]): void {
  const latest = useRef(entries);
  latest.current = entries;
  const names = entries.map(({ keys, description }) => `${keys} ${description}`).join('|');
  // biome-ignore lint/correctness/useExhaustiveDependencies: `names` changes when what the list of `?` shows does.
  useEffect(() => {
    const own = latest.current.map((entry, index) => ({ ...entry, run: () => latest.current[index]?.run() }));
    shortcuts.set([...shortcuts.get(), ...own]);
    return () => shortcuts.set(shortcuts.get().filter((entry) => !own.includes(entry as (typeof own)[number])));
  }, [names]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
  !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type));

/** Dialogs, menus and lists have keys of their own. */
const isInPopup = (target: EventTarget | null): boolean =>
  target instanceof Element &&
  target.closest('dialog,[role=dialog],[role=alertdialog],[role=menu],[role=listbox]') !== null;

/** Returns the name of a pressed key as shortcuts write it. */
export function keyName(event: Pick<KeyboardEvent, 'key' | 'metaKey' | 'ctrlKey' | 'altKey' | 'shiftKey'>): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (event.metaKey || event.ctrlKey) return `mod+${key}`;
  // Shift belongs to characters such as `?` and `*`; with a to z it is a key of its own.
  return event.shiftKey && /^[a-z]$/.test(key) ? `shift+${key}` : key;
}

/** Listens to the keys of the page. */
export function startShortcuts(): void {
  let first: { key: string; at: number } | null = null;
  window.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const key = keyName(event);
    const isChord = key.startsWith('mod+');
    if (!isChord && (isTyping(event.target) || isInPopup(event.target) || !preferences.get().letterKeys)) return;
    const sequence = first && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ${key}` : null;
    const all = shortcuts.get();
    const found = all.findLast(({ keys }) => keys === (sequence ?? key)) ?? all.findLast(({ keys }) => keys === key);
    first = all.some(({ keys }) => keys.startsWith(`${key} `)) ? { key, at: event.timeStamp } : null;
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}

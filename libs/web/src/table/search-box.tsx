import { useEffect, useRef, useState } from 'react';
import { useShortcuts } from '../navigation/shortcuts.ts';
import { after } from '../timing/timers.ts';
import styles from './search-box.module.css';

interface SearchBoxProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The shortcut `/` focuses this box. */
  isMain?: boolean;
  isNarrow?: boolean;
}

const TYPING_MS = 300;

/** A filter that is typed. It reports a pause in typing; the owner of the value is the address. */
export function SearchBox({ label, value, onChange, isMain = false, isNarrow = false }: SearchBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(value);
  useShortcuts(isMain ? [{ keys: '/', description: label, group: 'Lists', run: () => input.current?.focus() }] : []);
  useEffect(() => setTyped(value), [value]);
  useEffect(() => (typed === value ? undefined : after(TYPING_MS, () => onChange(typed))), [typed, value, onChange]);
  return (
    <input
      ref={input}
      type="search"
      className={`${styles.box} ${isNarrow ? styles.narrow : ''}`}
      aria-label={label}
      placeholder={label}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
    />
  );
}

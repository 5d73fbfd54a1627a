import type { Values } from '@pipeline/web/address/fields.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { type Choice, SelectField } from '@pipeline/web/components/select-field.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { STATE_NAMES, STATES } from '@pipeline/web/states/states.ts';
import { after } from '@pipeline/web/timing/timers.ts';
import { useEffect, useRef, useState } from 'react';
import type { FIELDS } from './fields.ts';
import styles from './issues.module.css';

export type IssueValues = Values<typeof FIELDS>;
export type SetValues = (change: Partial<IssueValues>, options?: { push?: boolean }) => void;

const STATE_CHOICES: readonly Choice<IssueValues['state']>[] = [
  { value: '', label: 'Open issues' },
  { value: 'all', label: 'All issues' },
  { value: 'blocked', label: 'Blocked, in any open state' },
  { value: 'paused', label: 'Paused, in any open state' },
  ...STATE_NAMES.map((state) => ({ value: state, label: STATES[state].label })),
];

const TYPING_MS = 300;

/** The filters of the page; the address owns them. */
export function IssueFilters({ values, set }: { values: IssueValues; set: SetValues }) {
  const input = useRef<HTMLInputElement>(null);
  useShortcuts([{ keys: '/', description: 'Filter', group: 'Lists', run: () => input.current?.focus() }]);
  const [typed, setTyped] = useState(values.q);
  useEffect(() => setTyped(values.q), [values.q]);
  useEffect(() => (typed === values.q ? undefined : after(TYPING_MS, () => set({ q: typed }))), [typed, values.q, set]);
  const isFiltered = values.state !== '' || values.flag !== '' || values.q !== '';
  return (
    <search className={styles.filters}>
      <input
        ref={input}
        type="search"
        className={styles.search}
        aria-label="Filter by title or number"
        placeholder="Title or number"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <SelectField
        label="State"
        hideLabel
        choices={STATE_CHOICES}
        value={values.state}
        onChange={(state) => set({ state }, { push: true })}
      />
      {isFiltered && (
        <Button kind="quiet" glyph="close" onPress={() => set({ state: '', flag: '', q: '' }, { push: true })}>
          Clear filters
        </Button>
      )}
    </search>
  );
}

import type { Values } from '@pipeline/web/address/fields.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { type Choice, SelectField } from '@pipeline/web/components/select-field.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { STATE_NAMES, STATES } from '@pipeline/web/states/states.ts';
import { SearchBox } from '@pipeline/web/table/search-box.tsx';
import { useCallback } from 'react';
import type { FIELDS } from './fields.ts';

export type IssueValues = Values<typeof FIELDS>;
export type SetValues = (change: Partial<IssueValues>, options?: { push?: boolean }) => void;

const STATE_CHOICES: readonly Choice<IssueValues['state']>[] = [
  { value: '', label: 'Open issues' },
  { value: 'all', label: 'All issues' },
  { value: 'blocked', label: 'Blocked, in any open state' },
  { value: 'paused', label: 'Paused, in any open state' },
  ...STATE_NAMES.map((state) => ({ value: state, label: STATES[state].label })),
];

/** The filters of the page; the address owns them. */
export function IssueFilters({ values, set }: { values: IssueValues; set: SetValues }) {
  const onText = useCallback((q: string) => set({ q }), [set]);
  const isFiltered = values.state !== '' || values.flag !== '' || values.q !== '';
  return (
    <search className={layout.filters}>
      <SearchBox label="Title or number" value={values.q} onChange={onText} isMain />
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

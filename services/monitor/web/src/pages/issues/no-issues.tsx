import { Button } from '@pipeline/web/components/button.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { labelOf } from '@pipeline/web/states/states.ts';
import type { IssueValues, SetValues } from './filters.tsx';

/** Names the filter that hides everything and offers to drop it. */
export function NoIssues({ values, set }: { values: IssueValues; set: SetValues }) {
  if (values.q !== '') {
    return (
      <EmptyNote title={`No issue matches “${values.q}”.`}>
        <Button onPress={() => set({ q: '' })}>Drop the search</Button>
      </EmptyNote>
    );
  }
  if (values.state !== '' && values.state !== 'all') {
    return (
      <EmptyNote title={`No issue is in “${labelOf(values.state)}”.`}>
        <Button onPress={() => set({ state: '' })}>Show open issues</Button>
      </EmptyNote>
    );
  }
  return (
    <EmptyNote title={values.state === 'all' ? 'There are no issues.' : 'There are no open issues.'}>
      {values.state !== 'all' && <Button onPress={() => set({ state: 'all' })}>Show done issues as well</Button>}
      <p>
        Give an issue of an enabled repository the label <code>svc:enqueue</code>.
      </p>
    </EmptyNote>
  );
}

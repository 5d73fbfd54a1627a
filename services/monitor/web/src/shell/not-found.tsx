import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyNote title="There is no page at this address.">
        <p>
          It may have moved. <PageLink to="/">Open the overview</PageLink> or press <kbd>?</kbd> for the shortcuts.
        </p>
      </EmptyNote>
    </Page>
  );
}

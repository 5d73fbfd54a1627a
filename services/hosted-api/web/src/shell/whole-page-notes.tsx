import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import type { ErrorComponentProps } from '@tanstack/react-router';

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyNote title="There is no page at this address.">
        <p>
          It may have moved. <PageLink to="/">Open the overview</PageLink>
        </p>
      </EmptyNote>
    </Page>
  );
}

/** A page that failed to load or to render; after an update of the service, its files have new names. */
export function PageFailure({ error }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <FailureNote
        what="The page could not be shown. The service may have been updated: reload the page."
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
    </Page>
  );
}

import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import type { ErrorComponentProps } from '@tanstack/react-router';

/** A page that failed to load or to render; after an update of the monitor, its files have new names. */
export function PageFailure({ error }: ErrorComponentProps) {
  return (
    <Page title="This page failed">
      <FailureNote
        what="The page could not be shown. The monitor may have been updated: reload the dashboard."
        error={error instanceof Error ? error : new Error(String(error))}
        onRetry={() => window.location.reload()}
      />
    </Page>
  );
}

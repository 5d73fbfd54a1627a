import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import type { ReactNode } from 'react';
import { usePlace } from '../api/use-place.ts';

interface RepoPageProps {
  title: string;
  children: (place: { org: string; repo: string }) => ReactNode;
}

/** A page about one repository; shows a note where there is none. */
export function RepoPage({ title, children }: RepoPageProps) {
  const { org, repo, bootstrap } = usePlace();
  if (org && repo) return children({ org: org.slug, repo });
  return (
    <Page title={title}>
      {bootstrap.error && (
        <FailureNote
          what="The repositories could not be read"
          error={bootstrap.error}
          onRetry={() => void bootstrap.refetch()}
        />
      )}
      {bootstrap.data && (
        <EmptyNote title="There is no repository that you can read.">
          <p>An owner of the organisation, or the operator of this service, gives access.</p>
        </EmptyNote>
      )}
    </Page>
  );
}

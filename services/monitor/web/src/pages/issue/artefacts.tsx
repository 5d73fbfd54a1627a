import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import { Panel } from '../../page/panel.tsx';
import styles from './issue.module.css';

const Markdown = lazy(() => import('../../markdown/markdown.tsx'));

/** Documents that runs produced, such as plans, rendered; the latest plan is open. */
export function Artefacts({ input }: { input: IssueInput }) {
  const query = useQuery(read('issueArtefacts', input));
  return (
    <Panel title="Artefacts" query={query} height={300}>
      {() =>
        query.data?.items.length === 0 ? (
          <EmptyNote title="No run has produced a document." />
        ) : (
          <ul className={styles.list}>
            {query.data?.items.toReversed().map(({ id, title, kind, mediaType, body, runId, createdAt }, index) => (
              <li key={id} className={styles.block}>
                <details open={index === 0}>
                  <summary>
                    {title}{' '}
                    <span className={styles.muted}>
                      {kind}, run {runId}, <When at={createdAt} />
                    </span>
                  </summary>
                  <CopyButton text={body} what="document" />
                  <Suspense fallback={<ScrolledText className={styles.text}>{body}</ScrolledText>}>
                    {mediaType === 'text/markdown' ? (
                      <Markdown text={body} under={2} />
                    ) : (
                      <ScrolledText className={styles.text}>{body}</ScrolledText>
                    )}
                  </Suspense>
                </details>
              </li>
            ))}
          </ul>
        )
      }
    </Panel>
  );
}

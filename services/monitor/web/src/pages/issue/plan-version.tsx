import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { lazy, Suspense } from 'react';
import type { Reply } from '../../api/types.ts';
import { ScrolledText } from '../../markdown/scrolled-text.tsx';
import styles from './issue.module.css';

const Markdown = lazy(() => import('../../markdown/markdown.tsx'));

export type PlanVersion = Reply<'listPlans'>['items'][number];

/** Author and time of a version, its answer, and its text, rendered. */
export function PlanVersionText({ plan }: { plan: PlanVersion }) {
  const { body, author, createdAt, editsVersion, answeredBy, answeredAt, status, reason } = plan;
  return (
    <>
      <p className={styles.muted}>
        {editsVersion === null ? 'by' : `version ${editsVersion}, edited by`} {author}, <When at={createdAt} />
        {answeredBy !== null && answeredAt !== null && (
          <>
            ; {status} by {answeredBy}, <When at={answeredAt} />
          </>
        )}
      </p>
      {reason && <p>{reason}</p>}
      <CopyButton text={body} what="plan" />
      <Suspense fallback={<ScrolledText className={styles.text}>{body}</ScrolledText>}>
        <Markdown text={body} under={2} />
      </Suspense>
    </>
  );
}

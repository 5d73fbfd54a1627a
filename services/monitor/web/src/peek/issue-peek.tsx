import { Button } from '@pipeline/web/components/button.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { read } from '../api/query.ts';
import type { Reply } from '../api/types.ts';
import { issuePath } from '../navigation/issue-path.ts';
import { IssueActions } from './issue-actions.tsx';
import styles from './issue-peek.module.css';
import { IssueTrouble } from './issue-trouble.tsx';
import panelStyles from './side-panel.module.css';

interface IssuePeekProps {
  /** `owner/repo/number` as in the address. */
  name: string;
  onClose: () => void;
}

/** An issue beside the list it was found in: why it is where it is, its last error, and what can be done. */
export function IssuePeek({ name, onClose }: IssuePeekProps) {
  const [owner = '', repo = '', issue = ''] = name.split('/');
  const isAddress = /^\d+$/.test(issue);
  const panel = useRef<HTMLElement>(null);
  useShortcuts([{ keys: 'Escape', description: 'Close the peek', group: 'Lists', run: onClose }]);
  const why = useQuery({ ...read('explainIssueTo', { params: { owner, repo, issue } }), enabled: isAddress });
  // On a narrow window the panel lies above the list, whose row may be further down.
  useEffect(() => {
    if (name !== '') panel.current?.scrollIntoView({ block: 'nearest' });
  }, [name]);
  return (
    <aside ref={panel} className={panelStyles.panel} aria-label={`Peek at ${owner}/${repo}#${issue}`}>
      <header className={styles.head}>
        <h2>
          <PageLink to={issuePath(`${owner}/${repo}`, Number(issue))}>
            {owner}/{repo}#{issue}
          </PageLink>
        </h2>
        <Button kind="quiet" glyph="close" aria-label="Close the peek" onPress={onClose} />
      </header>
      {why.error && (
        <FailureNote what="The issue could not be read" error={why.error} onRetry={() => void why.refetch()} />
      )}
      {!why.data && !why.error && <Skeleton height={200} />}
      {why.data && <Content why={why.data} />}
    </aside>
  );
}

function Content({ why }: { why: Reply<'explainIssueTo'> }) {
  return (
    <>
      <p className={styles.title}>
        <TitleText text={why.title} />
      </p>
      <p className={styles.state}>
        <StateChip state={why.state} isPaused={why.isPaused} isBlocked={why.isBlocked} />
        <span className={styles.muted}>
          for <When at={why.stateEnteredAt} as="since" />
        </span>
      </p>
      <p>{why.explanation}</p>
      <IssueTrouble why={why} isOpen />
      <IssueActions why={why} />
    </>
  );
}

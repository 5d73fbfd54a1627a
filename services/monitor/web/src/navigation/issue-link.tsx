import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import styles from './issue-link.module.css';
import { issuePath } from './issue-path.ts';

interface IssueLinkProps {
  repo: string;
  issueNumber: number;
  /** -1 in tables, which are one tab stop. */
  tabIndex?: number;
}

/** A link to an issue, as `owner/repo#7`; where there is no room, the repo is cut and not the number. */
export function IssueLink({ repo, issueNumber, tabIndex }: IssueLinkProps) {
  return (
    <PageLink
      to={issuePath(repo, issueNumber)}
      tabIndex={tabIndex}
      title={`${repo}#${issueNumber}`}
      className={styles.link}
    >
      <span className={styles.repo}>{repo}</span>#{issueNumber}
    </PageLink>
  );
}

import { issuePath } from './issue-path.ts';
import { PageLink } from './page-link.tsx';

interface IssueLinkProps {
  repo: string;
  issueNumber: number;
  /** -1 in tables, which are one tab stop. */
  tabIndex?: number;
}

/** A link to an issue, as `owner/repo#7`. */
export function IssueLink({ repo, issueNumber, tabIndex }: IssueLinkProps) {
  return (
    <PageLink to={issuePath(repo, issueNumber)} tabIndex={tabIndex}>
      {repo}#{issueNumber}
    </PageLink>
  );
}

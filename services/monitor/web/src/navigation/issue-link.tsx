import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { issuePath } from './issue-path.ts';

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

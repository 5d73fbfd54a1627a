import { When } from '@pipeline/web/components/when.tsx';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import type { Column } from '@pipeline/web/table/column.ts';
import type { Reply } from '../../api/types.ts';
import { issuePath } from '../../navigation/issue-path.ts';

export type AuditEntry = Reply<'listAudit'>['items'][number];

export const COLUMNS: readonly Column<AuditEntry>[] = [
  { id: 'time', header: 'Time', width: '124px', from: 420, cell: ({ at }) => <When at={at} as="second" /> },
  { id: 'actor', header: 'Who', width: 'minmax(80px, 0.6fr)', cell: ({ actor }) => <span title={actor}>{actor}</span> },
  {
    id: 'action',
    header: 'What',
    width: 'minmax(90px, 0.8fr)',
    cell: ({ action }) => <span title={action}>{inWords(action)}</span>,
  },
  { id: 'target', header: 'On', width: 'minmax(90px, 1fr)', cell: (entry) => <Target entry={entry} /> },
  {
    id: 'reason',
    header: 'Why',
    width: 'minmax(0, 2fr)',
    from: 700,
    cell: ({ reason }) => <span title={reason ?? undefined}>{reason}</span>,
  },
];

/** Target of the action; an issue is a link. */
export function Target({ entry: { target, repo, issueNumber } }: { entry: AuditEntry }) {
  if (repo === null || issueNumber === null) return <span title={target}>{target}</span>;
  return (
    <PageLink to={issuePath(repo, issueNumber)} title={target} tabIndex={-1}>
      {target}
    </PageLink>
  );
}

import { When } from '@pipeline/web/components/when.tsx';
import { formatConfidence } from '@pipeline/web/format/number.ts';
import layout from '@pipeline/web/page/layout.module.css';
import type { Column } from '@pipeline/web/table/column.ts';
import type { Finding } from './finding-plans.ts';

const RANK: Readonly<Record<Finding['severity'], number>> = { info: 0, low: 1, medium: 2, high: 3, critical: 4 };
const LOOKS: Partial<Record<Finding['severity'], string>> = {
  critical: layout.danger,
  high: layout.danger,
  medium: layout.warning,
};

/** A severity in its word. */
export const Severity = ({ severity }: Pick<Finding, 'severity'>) => (
  <span className={LOOKS[severity]}>{severity}</span>
);

export const COLUMNS: readonly Column<Finding>[] = [
  {
    id: 'severity',
    header: 'Severity',
    width: '68px',
    sort: ({ severity }) => RANK[severity],
    cell: (finding) => <Severity severity={finding.severity} />,
  },
  {
    id: 'title',
    header: 'Finding',
    width: 'minmax(0, 3fr)',
    sort: ({ title }) => title,
    cell: ({ title }) => <span title={title}>{title}</span>,
  },
  {
    id: 'blocks',
    header: 'Blocks',
    width: '64px',
    sort: ({ blocksProgress }) => Number(blocksProgress),
    cell: ({ blocksProgress }) => <span className={layout.danger}>{blocksProgress ? 'merge' : ''}</span>,
    from: 560,
  },
  {
    id: 'category',
    header: 'Category',
    width: 'minmax(70px, 1fr)',
    sort: ({ category }) => category,
    cell: ({ category }) => <span>{category}</span>,
    from: 640,
  },
  {
    id: 'confidence',
    header: 'Confidence',
    width: '84px',
    align: 'end',
    sort: ({ confidence }) => confidence,
    cell: ({ confidence }) => <span>{formatConfidence(confidence)}</span>,
    from: 820,
  },
  {
    id: 'agent',
    header: 'Agent',
    width: 'minmax(70px, 120px)',
    sort: ({ agentName }) => agentName,
    cell: ({ agentName }) => <span>{agentName}</span>,
    from: 900,
  },
  {
    id: 'status',
    header: 'Status',
    width: '84px',
    sort: ({ status }) => status,
    cell: ({ status }) => <span>{status}</span>,
  },
  {
    id: 'age',
    header: 'Found',
    width: '112px',
    sort: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <When at={createdAt} />,
    from: 720,
  },
];

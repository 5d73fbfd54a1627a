import { When } from '@pipeline/web/components/when.tsx';
import { formatConfidence, formatCount } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { Column } from '@pipeline/web/table/column.ts';
import type { Item } from './item-plans.ts';

/** `risk_area` as words. */
export const words = (name: string): string => name.replaceAll('_', ' ');

const LOOKS: Partial<Record<Item['status'], string>> = { proposed: layout.warning, approved: layout.good };

/** The status of an item in its word. */
export const ItemStatus = ({ status }: Pick<Item, 'status'>) => <span className={LOOKS[status]}>{status}</span>;

export const COLUMNS: readonly Column<Item>[] = [
  {
    id: 'status',
    header: 'Status',
    width: '84px',
    sort: ({ status }) => status,
    cell: (item) => <ItemStatus status={item.status} />,
  },
  {
    id: 'title',
    header: 'Item',
    width: 'minmax(0, 3fr)',
    sort: ({ title }) => title,
    cell: ({ id, title }) => (
      <PageLink to={`/knowledge/items/${id}`} title={title} tabIndex={-1}>
        {title}
      </PageLink>
    ),
  },
  {
    id: 'kind',
    header: 'Kind',
    width: 'minmax(90px, 1fr)',
    sort: ({ kind }) => kind,
    cell: ({ kind }) => <span>{words(kind)}</span>,
    from: 520,
  },
  {
    id: 'confidence',
    header: 'Confidence',
    width: '84px',
    align: 'end',
    sort: ({ confidence }) => confidence,
    cell: ({ confidence }) => <span>{formatConfidence(confidence)}</span>,
    from: 640,
  },
  {
    id: 'seen',
    header: 'Observed',
    width: '76px',
    align: 'end',
    sort: ({ observationCount }) => observationCount,
    cell: ({ observationCount }) => <span>{formatCount(observationCount)} ×</span>,
    from: 640,
  },
  {
    id: 'last',
    header: 'Last',
    width: '90px',
    sort: ({ lastObservedAt }) => lastObservedAt,
    cell: ({ lastObservedAt }) => <When at={lastObservedAt} />,
    from: 760,
  },
];

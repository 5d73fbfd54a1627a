import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatConfidence, formatCount } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { useGo } from '../../navigation/use-go.ts';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import { EvidenceList } from '../findings/evidence-list.tsx';
import { ItemStatus, words } from './columns.tsx';
import { itemPlans } from './item-plans.ts';

type Detail = Reply<'getIntelligence'>['item'];

const QUEUE = 500;

/** One item: its text, where it applies, what it rests on. j and k walk the proposed items of the repo. */
export default function ItemPage() {
  const { id = '' } = useParams({ strict: false }) as Record<string, string>;
  const { repo } = useRepo();
  const query = useQuery(read('getIntelligence', { params: { id } }, 15_000));
  const all = useQuery({
    ...read('listIntelligence', { query: { repo: repo ?? '', limit: QUEUE } }),
    enabled: repo !== undefined,
  });
  const items = all.data?.items ?? [];
  const queue = items.filter((item) => item.status === 'proposed' || item.id === id);
  const place = queue.findIndex((item) => item.id === id);
  const go = useGo();
  const walk = (step: number) => () => {
    const next = queue[place + step];
    if (next) go(`/knowledge/items/${next.id}`);
  };
  useShortcuts([
    { keys: 'j', description: 'Next proposed item', group: 'Lists', run: walk(1) },
    { keys: 'k', description: 'Previous proposed item', group: 'Lists', run: walk(-1) },
  ]);
  const item = query.data?.item;
  return (
    <Page
      title={item?.title ?? 'Intelligence item'}
      actions={
        <div className={layout.row}>
          <PageLink to="/knowledge/items">All items</PageLink>
          {queue.length > 1 && (
            <>
              <Button isDisabled={place <= 0} onPress={walk(-1)}>
                Previous
              </Button>
              <Button isDisabled={place + 1 >= queue.length} onPress={walk(1)}>
                Next
              </Button>
            </>
          )}
        </div>
      }
    >
      <div className={layout.stack}>
        <Panel title="Item" query={query} height={240}>
          {() =>
            item && (
              <div className={layout.stack}>
                <ItemFacts item={item} />
                <p className={layout.row}>
                  {itemPlans(item, items).map((plan) => (
                    <Button
                      key={plan.verb}
                      kind={plan.verb === 'Approve' ? 'primary' : 'plain'}
                      onPress={() => startAction(plan)}
                    >
                      {plan.verb}
                    </Button>
                  ))}
                </p>
              </div>
            )
          }
        </Panel>
        <Panel title="Applies to" query={query} height={60}>
          {() => item && <Scopes scopes={item.scopes} />}
        </Panel>
        <Panel title="Evidence, newest first" query={query} height={120}>
          {() => item && <Evidence evidence={item.evidence} />}
        </Panel>
      </div>
    </Page>
  );
}

function ItemFacts({ item }: { item: Detail }) {
  return (
    <>
      <p className={layout.text}>{item.summary}</p>
      {item.details && <p className={layout.text}>{item.details}</p>}
      <NamedValues
        facts={[
          ['Status', <ItemStatus key="status" status={item.status} />],
          ['Kind', words(item.kind)],
          ['Confidence', formatConfidence(item.confidence)],
          ['Observed', `${formatCount(item.observationCount)} times`],
          ['First', <When key="first" at={item.firstObservedAt} />],
          ['Last', <When key="last" at={item.lastObservedAt} />],
          ['From', item.sourceAgent ? `${item.source}, ${item.sourceAgent}` : item.source],
          item.tags && item.tags.length > 0 ? ['Tags', item.tags.join(', ')] : null,
          item.approvedBy ? ['Approved by', item.approvedBy] : null,
          item.dismissedReason ? ['Dismissed because', item.dismissedReason] : null,
          item.supersededBy
            ? [
                'Superseded by',
                <PageLink key="by" to={`/knowledge/items/${item.supersededBy}`}>
                  another item
                </PageLink>,
              ]
            : null,
        ]}
      />
    </>
  );
}

function Scopes({ scopes }: { scopes: Detail['scopes'] }) {
  if (scopes.length === 0) return <EmptyNote title="The whole repository." />;
  return (
    <ul className={layout.list}>
      {scopes.map(({ id, scopeKind, scopeRef }) => (
        <li key={id}>
          <span className={layout.muted}>{scopeKind}</span> <code>{scopeRef}</code>
        </li>
      ))}
    </ul>
  );
}

function Evidence({ evidence }: { evidence: Detail['evidence'] }) {
  if (evidence.length === 0) return <EmptyNote title="No evidence was given." />;
  return (
    <EvidenceList
      evidence={evidence.map(({ evidenceType, ref, path, url, excerpt }) => ({
        kind: evidenceType,
        text: path ?? ref ?? '',
        url,
        summary: excerpt,
      }))}
    />
  );
}

import { text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { plural } from '@pipeline/web/format/number.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { SearchBox } from '@pipeline/web/table/search-box.tsx';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { read } from '../../api/query.ts';
import styles from './api.module.css';
import { matches, type OpenApi, type Operation, operationsOf } from './document.ts';
import { OperationPanel } from './operation-panel.tsx';
import { PathText } from './path-text.tsx';

const FIELDS = { q: text(), op: text(100) };
const document = { ...read('getOpenApi', {}), staleTime: Number.POSITIVE_INFINITY };

/** Page of the API's operations, for scripts. */
export default function ApiPage() {
  const { values, set, rejected } = useAddress(FIELDS);
  const query = useQuery(document);
  const api = query.data as OpenApi | undefined;
  const all = useMemo(() => (api ? operationsOf(api) : []), [api]);
  const found = useMemo(() => all.filter((operation) => matches(operation, values.q)), [all, values.q]);
  const open = all.find(({ operationId }) => operationId === values.op);
  const onSearch = useCallback((q: string) => set({ q }), [set]);
  return (
    <Page
      title="API"
      rejected={rejected}
      actions={
        <div className={layout.row}>
          <a href="/api/openapi.json">OpenAPI document</a>
          <a href="/prometheus">Prometheus metrics</a>
        </div>
      }
    >
      <search className={layout.filters}>
        <SearchBox label="Search the operations" value={values.q} onChange={onSearch} isMain />
        {api && (
          <span className={layout.muted}>
            {plural(found.length, 'operation')} of version {api.info.version}
          </span>
        )}
      </search>
      {query.error && (
        <FailureNote what="The document could not be read" error={query.error} onRetry={() => void query.refetch()} />
      )}
      {api ? (
        <div className={layout.split} data-open={open ? true : undefined}>
          <Operations found={found} chosen={values.op} onChoose={(op) => set({ op }, { push: true })} />
          {open && (
            <OperationPanel operation={open} schemas={api.components?.schemas ?? {}} onClose={() => set({ op: '' })} />
          )}
        </div>
      ) : (
        !query.error && <Skeleton height={400} />
      )}
    </Page>
  );
}

interface OperationsProps {
  found: readonly Operation[];
  chosen: string;
  onChoose: (id: string) => void;
}

function Operations({ found, chosen, onChoose }: OperationsProps) {
  if (found.length === 0) return <EmptyNote title="No operation matches." />;
  const tags = [...new Set(found.map(({ tags: [tag = 'Other'] = [] }) => tag))];
  return (
    <div className={layout.stack}>
      {tags.map((tag) => (
        <section key={tag} aria-label={tag}>
          <h2 className={styles.tag}>{tag}</h2>
          <ul>
            {found
              .filter(({ tags: [first = 'Other'] = [] }) => first === tag)
              .map(({ operationId, method, path, summary }) => (
                <li key={operationId}>
                  <Button kind="quiet" aria-pressed={operationId === chosen} onPress={() => onChoose(operationId)}>
                    <span className={styles.operation}>
                      <code className={styles.method}>{method.toUpperCase()}</code>
                      <code className={styles.path}>
                        <PathText path={path} />
                      </code>
                      <span className={styles.summary}>{summary}</span>
                    </span>
                  </Button>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

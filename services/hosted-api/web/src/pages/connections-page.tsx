import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { change, read } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import { useUser } from '../api/use-user.ts';
import { EndDialog, type EndPlan } from './end-dialog.tsx';

type Connection = Reply<'browserConnections'>['items'][number];

/** Page of the programs that read on the user's behalf, with a button that stops each. */
export default function ConnectionsPage() {
  const formToken = useUser().data?.formToken ?? '';
  const query = useQuery(read('browserConnections', {}));
  const [plan, setPlan] = useState<EndPlan | null>(null);
  const connections = query.data?.items ?? [];
  return (
    <Page
      title="Connections"
      actions={
        connections.length > 1 && <Button onPress={() => setPlan(endAll(formToken))}>End all connections</Button>
      }
    >
      <Panel title="Programs that read on your behalf" query={query} height={160}>
        {() =>
          connections.length === 0 ? (
            <EmptyNote title="No program reads on your behalf." />
          ) : (
            <ul className={layout.list}>
              {connections.map((connection) => (
                <Entry
                  key={connection.id}
                  connection={connection}
                  onEnd={() => setPlan(endOne(connection, formToken))}
                />
              ))}
            </ul>
          )
        }
      </Panel>
      {plan && <EndDialog plan={plan} onClose={() => setPlan(null)} />}
    </Page>
  );
}

function Entry({ connection, onEnd }: { connection: Connection; onEnd: () => void }) {
  const { clientName, organisation, createdAt, lastUsedAt, expiresAt } = connection;
  return (
    <li className={layout.item}>
      <span className={layout.line}>
        <strong className={layout.grow}>{clientName}</strong>
        <Button kind="danger" aria-label={`End the connection of ${clientName}`} onPress={onEnd}>
          End
        </Button>
      </span>
      <span className={layout.muted}>
        reads {organisation} · allowed <When at={createdAt} /> · last used{' '}
        {lastUsedAt ? <When at={lastUsedAt} /> : 'never'} · ends by itself <When at={expiresAt} as="time" />
      </span>
    </li>
  );
}

const endOne = ({ id, clientName }: Connection, formToken: string): EndPlan => ({
  title: `End the connection of ${clientName}?`,
  effect: `${clientName} loses access at once. You can allow it again later.`,
  verb: 'End connection',
  run: () => change('browserEndConnection', { params: { id } }, formToken),
});

const endAll = (formToken: string): EndPlan => ({
  title: 'End all connections?',
  effect: 'All programs that read on your behalf lose access at once.',
  verb: 'End all connections',
  run: () => change('browserEndConnections', {}, formToken),
});

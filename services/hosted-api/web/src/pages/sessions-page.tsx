import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { change, read } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import { useUser } from '../api/use-user.ts';
import { EndDialog, type EndPlan } from './end-dialog.tsx';

type Session = Reply<'browserSessions'>['items'][number];

/** Page of the browsers in which the user is logged in. */
export default function SessionsPage() {
  const formToken = useUser().data?.formToken ?? '';
  const query = useQuery(read('browserSessions', {}));
  const [plan, setPlan] = useState<EndPlan | null>(null);
  return (
    <Page title="Sessions">
      <Panel title="Browsers where you are logged in" query={query} height={160}>
        {() => (
          <ul className={layout.list}>
            {query.data?.items.map((session) => (
              <li key={session.id} className={layout.item}>
                <span className={layout.line}>
                  <span className={layout.grow}>
                    Logged in <When at={session.createdAt} />, until <When at={session.expiresAt} as="time" />
                  </span>
                  {session.isCurrent ? (
                    <span className={layout.muted}>this browser</span>
                  ) : (
                    <Button
                      kind="danger"
                      aria-label={`End the session of ${session.createdAt}`}
                      onPress={() => setPlan(endOne(session, formToken))}
                    >
                      End
                    </Button>
                  )}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <p className={layout.after}>
        <a href="/account/logins">Ways to log in</a>: your password and connected accounts.
      </p>
      {plan && <EndDialog plan={plan} onClose={() => setPlan(null)} />}
    </Page>
  );
}

const endOne = ({ id }: Session, formToken: string): EndPlan => ({
  title: 'End this session?',
  effect: 'That browser is logged out at once.',
  verb: 'End session',
  run: () => change('browserEndSession', { params: { id } }, formToken),
});

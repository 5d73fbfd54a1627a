import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { change, read } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';
import { EndDialog, type EndPlan } from '../end-dialog.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import type { Org } from './members-panel.tsx';

type Invitation = Reply<'browserInvitations'>['items'][number];

/** The links that can still be used, and the way to make one. */
export function InvitationsPanel({ org, formToken }: { org: Org; formToken: string }) {
  const query = useQuery(read('browserInvitations', { query: { org: org.slug } }));
  const [plan, setPlan] = useState<EndPlan | null>(null);
  const [isInviting, setInviting] = useState(false);
  return (
    <>
      <Panel
        title="Open invitations"
        query={query}
        height={100}
        actions={<Button onPress={() => setInviting(true)}>Invite a person</Button>}
      >
        {() =>
          query.data?.items.length === 0 ? (
            <EmptyNote title="No invitation is open." />
          ) : (
            <ul className={layout.list}>
              {query.data?.items.map((invitation) => (
                <li key={invitation.id} className={layout.item}>
                  <span className={layout.line}>
                    <span className={layout.grow}>
                      {invitation.email} as {invitation.role}
                    </span>
                    <Button
                      kind="danger"
                      aria-label={`Revoke the invitation of ${invitation.email}`}
                      onPress={() => setPlan(revocation(org, invitation, formToken))}
                    >
                      Revoke
                    </Button>
                  </span>
                  <span className={layout.muted}>
                    by {invitation.invitedBy}, <When at={invitation.createdAt} />, until{' '}
                    <When at={invitation.expiresAt} as="time" />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Panel>
      {plan && <EndDialog plan={plan} onClose={() => setPlan(null)} />}
      {isInviting && <InviteDialog org={org} formToken={formToken} onClose={() => setInviting(false)} />}
    </>
  );
}

const revocation = (org: Org, { id, email }: Invitation, formToken: string): EndPlan => ({
  title: `Revoke the invitation of ${email}?`,
  effect: 'The link stops working at once.',
  verb: 'Revoke',
  failure: 'The invitation was not revoked',
  run: () => change('browserRevokeInvitation', { query: { org: org.slug }, params: { id } }, formToken),
});

import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { usePlace } from '../api/use-place.ts';
import { InvitationsPanel } from './members/invitations-panel.tsx';
import { MembersPanel } from './members/members-panel.tsx';

/** Page of the people who can read the organisation, and which repositories of it. */
export default function MembersPage() {
  const { org, user } = usePlace();
  const formToken = user.data?.formToken ?? '';
  if (org?.role !== 'owner')
    return (
      <Page title="Members">
        <EmptyNote title="Only owners of the organisation see its members." />
      </Page>
    );
  return (
    <Page title="Members">
      <div className={layout.stack}>
        <MembersPanel org={org} ownEmail={user.data?.email ?? ''} formToken={formToken} />
        <InvitationsPanel org={org} formToken={formToken} />
        <p className={layout.muted}>The operator of this service grants access to single repositories.</p>
      </div>
    </Page>
  );
}

import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../api/request.ts';
import { usePlace } from '../api/use-place.ts';

/** Who can read the organisation, and which repositories of it? */
export default function MembersPage() {
  const { org } = usePlace();
  const isOwner = org?.role === 'owner';
  const query = useQuery({ ...read('browserMembers', { query: { org: org?.slug ?? '' } }), enabled: isOwner });
  if (!isOwner)
    return (
      <Page title="Members">
        <EmptyNote title="Only owners of the organisation see its members." />
      </Page>
    );
  return (
    <Page title="Members">
      <Panel title={`Members of ${org.name}`} query={query} height={160}>
        {() => (
          <ul className={layout.list}>
            {query.data?.items.map(({ email, name, role, repos }) => (
              <li key={email} className={layout.item}>
                <span className={layout.line}>
                  <span className={layout.grow}>
                    {name} · {email}
                  </span>
                  <span className={layout.muted}>{role}</span>
                </span>
                <span className={layout.muted}>
                  {repos === null ? 'reads all repositories' : `reads ${repos.join(', ') || 'no repository'}`}
                </span>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <p className={layout.muted}>The operator of this service adds and removes members.</p>
    </Page>
  );
}

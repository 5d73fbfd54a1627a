import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { usePlace } from '../api/use-place.ts';

/** Page of the repositories of the organisation that the user can read. */
export default function RepositoriesPage() {
  const { org, bootstrap, repos } = usePlace();
  return (
    <Page title="Repositories">
      <Panel title={`Repositories of ${org?.name ?? ''}`} query={bootstrap} height={160}>
        {() =>
          repos.length === 0 ? (
            <EmptyNote title="There is no repository that you can read." />
          ) : (
            <ul className={layout.list}>
              {repos.map(({ id, slug, defaultBranch, vcsHost }) => (
                <li key={id} className={layout.item}>
                  <PageLink to="/" search={{ repo: slug }}>
                    {slug}
                  </PageLink>
                  <span className={layout.muted}>
                    {vcsHost} · branch {defaultBranch}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Panel>
    </Page>
  );
}

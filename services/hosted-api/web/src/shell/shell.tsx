import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { Rail } from '@pipeline/web/shell/rail.tsx';
import styles from '@pipeline/web/shell/shell.module.css';
import { ZoneSwitch } from '@pipeline/web/shell/zone-switch.tsx';
import { Outlet } from '@tanstack/react-router';
import { usePlace } from '../api/use-place.ts';
import { LiveMark } from '../live/live-mark.tsx';
import { PAGES } from '../navigation/pages.ts';

/** Frame of every page: navigation, organisation, repository, time zone, log out. */
export function Shell() {
  const { user, orgs, org, repos, repo, setOrg, setRepo } = usePlace();
  const pages = PAGES.filter(({ path }) => path !== '/members' || org?.role === 'owner');
  return (
    <div className={styles.shell}>
      <header className={styles.top}>
        {orgs.length > 1 && (
          <SelectField
            label="Organisation"
            hideLabel
            choices={orgs.map(({ slug, name }) => ({ value: slug, label: name }))}
            value={org?.slug ?? ''}
            onChange={setOrg}
          />
        )}
        {repos.length > 0 && (
          <SelectField
            label="Repository"
            hideLabel
            choices={repos.map(({ slug }) => ({ value: slug, label: slug }))}
            value={repo ?? ''}
            onChange={setRepo}
          />
        )}
        {org && <LiveMark org={org.slug} />}
        <span className={styles.space} />
        <ZoneSwitch />
        {user.data && (
          <form method="post" action="/account/logout">
            <input type="hidden" name="form_token" value={user.data.formToken} />
            <input type="hidden" name="return_to" value="/" />
            <Button kind="quiet" type="submit" aria-label={`Log out ${user.data.email}`}>
              Log out
            </Button>
          </form>
        )}
      </header>
      <Rail pages={pages} />
      <main className={styles.main}>
        <Content />
      </main>
    </div>
  );
}

/** The page, once the user is known. */
function Content() {
  const { user, orgs, isForeign } = usePlace();
  if (user.error)
    return (
      <Page title="Pipeline">
        <FailureNote what="Your account could not be read" error={user.error} onRetry={() => void user.refetch()} />
      </Page>
    );
  if (!user.data) return null;
  if (isForeign)
    return (
      <Page title="No such organisation">
        <EmptyNote title="There is no such organisation, or you are not a member of it." />
      </Page>
    );
  if (orgs.length === 0)
    return (
      <Page title="No organisation">
        <EmptyNote title="You are not a member of an organisation.">
          <p>An owner of the organisation, or the operator of this service, can add you.</p>
        </EmptyNote>
      </Page>
    );
  return <Outlet />;
}

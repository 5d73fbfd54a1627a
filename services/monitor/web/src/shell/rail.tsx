import { Button } from '@pipeline/web/components/button.tsx';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { useRouterState } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { PAGES, type PageEntry } from '../navigation/pages.ts';
import styles from './rail.module.css';

const PagesDialog = lazy(() => import('./pages-dialog.tsx'));

const GROUPS = [...new Set(PAGES.map(({ group }) => group))];
const BAR = PAGES.slice(0, 4);

const isCurrent = (path: string, pathname: string): boolean =>
  path === '/' ? pathname === '/' : pathname === path || pathname.startsWith(`${path}/`);

/** The navigation: a rail on the left, or a bar at the bottom of a narrow window. */
export function Rail() {
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <nav className={styles.rail} aria-label="Pages">
        <PageGroups pathname={pathname} />
      </nav>
      <nav className={styles.bar} aria-label="Main pages">
        {BAR.map((page) => (
          <Entry key={page.path} page={page} pathname={pathname} />
        ))}
        <Button kind="quiet" glyph="more" onPress={() => setOpen(true)}>
          More
        </Button>
      </nav>
      <Suspense>
        {isOpen && (
          <PagesDialog onClose={() => setOpen(false)}>
            <PageGroups pathname={pathname} onOpen={() => setOpen(false)} />
          </PagesDialog>
        )}
      </Suspense>
    </>
  );
}

function PageGroups({ pathname, onOpen }: { pathname: string; onOpen?: () => void }) {
  return GROUPS.map((group) => (
    <div key={group} className={styles.group}>
      {group && <p className={styles.heading}>{group}</p>}
      <ul>
        {PAGES.filter((page) => page.group === group).map((page) => (
          <li key={page.path}>
            <Entry page={page} pathname={pathname} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </div>
  ));
}

function Entry({ page, pathname, onOpen }: { page: PageEntry; pathname: string; onOpen?: () => void }) {
  return (
    <PageLink
      to={page.path}
      className={styles.entry}
      aria-current={isCurrent(page.path, pathname) ? 'page' : undefined}
      onClick={onOpen}
    >
      <Glyph name={page.glyph} />
      <span>{page.title}</span>
    </PageLink>
  );
}

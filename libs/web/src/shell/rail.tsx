import { useRouterState } from '@tanstack/react-router';
import { lazy, memo, Suspense, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Glyph } from '../glyphs/glyph.tsx';
import type { PageEntry } from '../navigation/page-entry.ts';
import { PageLink } from '../navigation/page-link.tsx';
import styles from './rail.module.css';

const PagesDialog = lazy(() => import('./pages-dialog.tsx'));

/** Number of pages that fit a narrow window, beside the button for the rest. */
const IN_BAR = 4;

const isCurrent = (path: string, pathname: string): boolean =>
  path === '/' ? pathname === '/' : pathname === path || pathname.startsWith(`${path}/`);

/** The navigation: a rail on the left, or a bar at the bottom of a narrow window. */
export const Rail = memo(function Rail({ pages }: { pages: readonly PageEntry[] }) {
  const pathname = useRouterState({ select: ({ location }) => location.pathname });
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <nav className={styles.rail} aria-label="Pages">
        <PageGroups pages={pages} pathname={pathname} />
      </nav>
      <nav className={styles.bar} aria-label="Main pages">
        {pages.slice(0, IN_BAR).map((page) => (
          <Entry key={page.path} page={page} pathname={pathname} />
        ))}
        <Button kind="quiet" glyph="more" onPress={() => setOpen(true)}>
          More
        </Button>
      </nav>
      <Suspense>
        {isOpen && (
          <PagesDialog onClose={() => setOpen(false)}>
            <PageGroups pages={pages} pathname={pathname} onOpen={() => setOpen(false)} />
          </PagesDialog>
        )}
      </Suspense>
    </>
  );
});

interface PageGroupsProps {
  pages: readonly PageEntry[];
  pathname: string;
  onOpen?: () => void;
}

function PageGroups({ pages, pathname, onOpen }: PageGroupsProps) {
  const groups = [...new Set(pages.map(({ group }) => group))];
  return groups.map((group) => (
    <div key={group} className={styles.group}>
      {group && <p className={styles.heading}>{group}</p>}
      <ul>
        {pages
          .filter((page) => page.group === group)
          .map((page) => (
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

import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { Rail } from '@pipeline/web/shell/rail.tsx';
import styles from '@pipeline/web/shell/shell.module.css';
import { ZoneSwitch } from '@pipeline/web/shell/zone-switch.tsx';
import { Outlet } from '@tanstack/react-router';
import { lazy, memo, Suspense, useCallback, useState } from 'react';
import { Activity } from '../actions/activity.tsx';
import { openAction } from '../actions/perform.ts';
import { useRepos } from '../api/use-repos.ts';
import { PAGES } from '../navigation/pages.ts';
import { useGo } from '../navigation/use-go.ts';
import { useRepo } from '../navigation/use-repo.ts';
import { setPaused } from '../stream/held-events.ts';
import { pause } from '../stream/live-facts.ts';
import { useOutdated } from '../stream/use-live.ts';
import { LiveBadge } from './live-badge.tsx';
import { StoreBanner } from './store-banner.tsx';

const Palette = lazy(() => import('./palette.tsx'));
const SettingsDialog = lazy(() => import('./settings-dialog.tsx'));
const ShortcutList = lazy(() => import('./shortcut-list.tsx'));
const ActionDialog = lazy(() => import('../actions/action-dialog.tsx'));

type Open = 'palette' | 'shortcuts' | 'settings' | null;

/** Frame of every page: navigation, repo, live badge, palette, settings, the user. */
export function Shell() {
  const [open, setOpen] = useState<Open>(null);
  const action = useSignal(openAction);
  const close = useCallback(() => setOpen(null), []);
  useGlobalShortcuts({ openPalette: () => setOpen('palette'), openList: () => setOpen('shortcuts') });
  return (
    <div className={styles.shell}>
      <Top onOpen={setOpen} />
      <Rail pages={PAGES} />
      <Main />
      <Suspense>
        {open === 'palette' && <Palette onClose={close} />}
        {open === 'shortcuts' && <ShortcutList onClose={close} />}
        {open === 'settings' && <SettingsDialog onClose={close} onShortcuts={() => setOpen('shortcuts')} />}
        {action && <ActionDialog plan={action} />}
      </Suspense>
      <Activity />
    </div>
  );
}

/** Memoised, as are rail and main: opening a dialog renders none of them. */
const Top = memo(function Top({ onOpen }: { onOpen: (what: Open) => void }) {
  return (
    <header className={styles.top}>
      <RepoSwitch />
      <LiveBadge />
      <span className={styles.space} />
      <Button glyph="search" aria-label="Search Ctrl K" onPress={() => onOpen('palette')}>
        <span className={styles.wide}>
          Search <kbd className={styles.chord}>Ctrl K</kbd>
        </span>
      </Button>
      <ZoneSwitch />
      <Button kind="quiet" glyph="user" aria-label="Settings and user" onPress={() => onOpen('settings')} />
    </header>
  );
});

const Main = memo(function Main() {
  const isOutdated = useOutdated();
  return (
    <main className={styles.main} data-outdated={isOutdated || undefined}>
      <StoreBanner />
      <Outlet />
    </main>
  );
});

function useGlobalShortcuts({ openPalette, openList }: { openPalette: () => void; openList: () => void }): void {
  const go = useGo();
  useShortcuts([
    { keys: 'mod+k', description: 'Open the palette', group: 'Everywhere', run: openPalette },
    { keys: '?', description: 'Show this list', group: 'Everywhere', run: openList },
    { keys: 'l', description: 'Pause or resume live updates', group: 'Everywhere', run: pauseOrResume },
    ...PAGES.flatMap(({ key, title, path }) =>
      key ? [{ keys: `g ${key}`, description: title, group: 'Pages' as const, run: () => go(path) }] : [],
    ),
  ]);
}

/** Chooses the repo whose data the pages show. */
function RepoSwitch() {
  const repos = useRepos();
  const { repo, setRepo } = useRepo();
  // The address may name a repo that is not enabled any more.
  const known = repo === undefined || repos.includes(repo) ? repos : [repo, ...repos];
  const choices = [{ value: '', label: 'All repositories' }, ...known.map((slug) => ({ value: slug, label: slug }))];
  return <SelectField label="Repository" hideLabel choices={choices} value={repo ?? ''} onChange={setRepo} />;
}

/** Holds live updates back, or applies those that were held. */
const pauseOrResume = (): void => setPaused(!pause.get().paused);

import '@pipeline/web/design/base.css';
import { queryClient } from '@pipeline/web/api/query-client.ts';
import { startShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { startPreferences } from '@pipeline/web/preferences/preferences.ts';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { router } from './app/router.tsx';
import { startLive } from './stream/live.ts';
import { cachePatcher } from './stream/patches.ts';

startPreferences();
startShortcuts();
startLive({ apply: cachePatcher(queryClient), refetch: () => void queryClient.invalidateQueries() });

const place = document.getElementById('app');
if (place) createRoot(place).render(<App router={router} />);

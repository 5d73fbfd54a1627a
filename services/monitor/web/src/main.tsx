import './design/base.css';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { App } from './app/app.tsx';
import { router } from './app/router.tsx';
import { startShortcuts } from './navigation/shortcuts.ts';
import { startPreferences } from './preferences/preferences.ts';
import { startLive } from './stream/live.ts';
import { cachePatcher } from './stream/patches.ts';

startPreferences();
startShortcuts();
startLive({ apply: cachePatcher(queryClient), refetch: () => void queryClient.invalidateQueries() });

const place = document.getElementById('app');
if (place) createRoot(place).render(<App router={router} />);

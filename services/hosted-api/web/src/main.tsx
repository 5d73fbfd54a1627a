import '@pipeline/web/design/base.css';
import { queryClient } from '@pipeline/web/api/query-client.ts';
import { startShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { startPreferences } from '@pipeline/web/preferences/preferences.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { router } from './app/router.tsx';

startPreferences();
startShortcuts();

const place = document.getElementById('app');
if (place)
  createRoot(place).render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );

import { queryClient } from '@pipeline/web/api/query-client.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { type AnyRouter, RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { session } from '../api/session-state.ts';
import { Unreachable } from '../login/unreachable.tsx';

const LoginPage = lazy(() => import('../login/login-page.tsx'));
const SessionDialog = lazy(() => import('../login/session-dialog.tsx'));

/** The dashboard. A session that ends later opens a dialog over the page, which keeps what was typed. */
export function App({ router }: { router: AnyRouter }) {
  const state = useSignal(session);
  const [wasIn, setWasIn] = useState(false);
  if (state === 'in' && !wasIn) setWasIn(true);
  if (state === 'unknown') return <Unreachable />;
  if (state === 'out' && !wasIn)
    return (
      <Suspense>
        <LoginPage />
      </Suspense>
    );
  return (
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
      <Suspense>{state === 'out' && <SessionDialog />}</Suspense>
    </QueryClientProvider>
  );
}

import { createSignal } from '@pipeline/web/shared/signal.ts';

/** `unknown` until the first check; `out` = the login form is shown over the page. */
export type SessionState = 'unknown' | 'in' | 'out';

export const session = createSignal<SessionState>('unknown');

/** Called for every 401: a restart of the monitor ends all sessions. */
export const sessionExpired = (): void => session.set('out');

/** Number of logins in this tab; the other tabs are notified of each. */
export const signIns = createSignal(0);

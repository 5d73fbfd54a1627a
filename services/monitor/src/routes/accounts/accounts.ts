import type { authRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';

/**
 * interface: Session. These need no prior authentication.
 * @param position id of the newest event of the stream; null while it does not run.
 */
export const authHandlers = (auth: Authentication, position: () => number | null): HandlersOf<typeof authRoutes> => ({
  login: async ({ body, address }) => {
    const cookie = await auth.login(body, address);
    return { status: 200, headers: cookie === null ? {} : { 'set-cookie': cookie }, body: { ok: true } };
  },
  logout: async ({ request }) => {
    return { status: 200, headers: { 'set-cookie': await auth.logout(request) }, body: { ok: true } };
  },
  getSession: async ({ request }) => {
    const authenticated = await auth.isAuthenticated(request);
    const newest = authenticated ? position() : null;
    const headers = newest === null ? {} : { 'x-stream-position': String(newest) };
    return { status: 200, headers, body: { authenticated } };
  },
});

import type { authRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';

/** interface: Session. These need no prior authentication. */
export const authHandlers = (auth: Authentication): HandlersOf<typeof authRoutes> => ({
  login: async ({ body, address }) => {
    const cookie = await auth.login(body, address);
    return { status: 200, headers: cookie === null ? {} : { 'set-cookie': cookie }, body: { ok: true } };
  },
  logout: async ({ request }) => {
    return { status: 200, headers: { 'set-cookie': await auth.logout(request) }, body: { ok: true } };
  },
  getSession: async ({ request }) => {
    return { status: 200, body: { authenticated: await auth.isAuthenticated(request) } };
  },
});

import type { digestRoutes } from '@pipeline/contract';
import { type Engine, readDigest } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication } from '../../auth/authentication.ts';

type Handlers = HandlersOf<typeof digestRoutes, Authentication>;

/**
 * interface: Digest.
 * @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store.
 */
export const digestHandlers = (deps: () => { engine: Engine }): Handlers => ({
  readDigest: async () => ({ status: 200, body: { digest: await readDigest(deps().engine.store) } }),
});

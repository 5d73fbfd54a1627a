import type { Bootstrap } from '@pipeline/contract';
import { type Engine, type Overview, overviewOf, reachable } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import type { StoreWatch } from '@pipeline/store';
import type { z } from 'zod';
import type { ConnectionIdentity } from '../auth/connection-tokens.ts';
import type { StoreDetails } from './store-details.ts';

/** The dependencies of the reads, of REST and of MCP. */
export interface ReadContext {
  engine: Engine;
  /** Undefined: not shown to connections. */
  monitorUrl: string | undefined;
  /** Undefined: not shown to connections. */
  storeDetails: StoreDetails | undefined;
  storeWatch: StoreWatch;
  log: Logger;
  now: () => Date;
}

/** Reads that REST and MCP give alike. @throws AppError REPO_NOT_FOUND. */
export async function bootstrapOf(
  { engine, monitorUrl, storeDetails }: ReadContext,
  { scope, login, scopes }: Pick<ConnectionIdentity, 'scope' | 'login' | 'scopes'>,
  slug: string | undefined,
): Promise<z.input<typeof Bootstrap>> {
  const { org, repos, repo, schemaVersion, now } = await reachable(engine.store, scope, slug);
  return {
    org,
    repos,
    repo,
    pipelineStore: { kind: 'postgres', connected: true, schemaVersion, ...(storeDetails ?? HIDDEN) },
    monitorUrl: monitorUrl ?? null,
    viewer: { userId: String(scope.userId), login, role: scope.role, scopes: [...scopes] },
    serverTimestamp: now,
  };
}

const HIDDEN = { host: null, port: null, database: null, sslMode: null };

/** @throws AppError REPO_NOT_FOUND. */
export const overviewFor = (
  { engine, now }: ReadContext,
  { scope }: Pick<ConnectionIdentity, 'scope'>,
  slug: string,
): Promise<Overview> =>
  overviewOf(engine.store, scope, slug, { silenceMs: engine.settings().workerSilenceMs, now: now() });

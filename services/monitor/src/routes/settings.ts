import type { configRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import { isUnavailable, type ReloadReport, type RepoWithTenant } from '@pipeline/store';
import { actorOf } from '../auth/actor.ts';
import type { Authentication } from '../auth/authentication.ts';
import { configSummaryOf, type SummaryParts } from '../settings/config-summary.ts';

export interface ConfigRouteDeps {
  /** Read at each request; values of the store are read apart. */
  summary: () => Omit<SummaryParts, 'reports' | 'repos'>;
  /** One read of a row for each process. */
  reports: () => Promise<ReloadReport[]>;
  /** The enabled repos. */
  repos: () => Promise<RepoWithTenant[]>;
}

/** interface: Config. */
export const configHandlers = ({
  summary,
  reports,
  repos,
}: ConfigRouteDeps): HandlersOf<typeof configRoutes, Authentication> => ({
  configSummary: async () => {
    const parts = summary();
    const stored = parts.connected ? await unlessAway(() => Promise.all([reports(), repos()])) : null;
    const [reported, enabled] = stored ?? [[], null];
    return { status: 200, body: configSummaryOf({ ...parts, reports: reported, repos: enabled }) };
  },
  reloadConfig: async ({ identity }) => {
    const { appliedKeys, deferredKeys } = await summary().config.reload('api', actorOf(identity));
    return { status: 200, body: { ok: true, appliedKeys, deferredKeys } };
  },
});

/** The store may go away between the check and the read: the summary answers all the same. */
async function unlessAway<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return null;
  }
}

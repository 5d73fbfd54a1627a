import type { configRoutes } from '@pipeline/contract';
import type { HandlersOf } from '@pipeline/http';
import { isUnavailable, type ReloadReport } from '@pipeline/store';
import { actorOf } from '../auth/actor.ts';
import type { Authentication } from '../auth/authentication.ts';
import { configSummaryOf, type SummaryParts } from '../configuration/config-summary.ts';

export interface ConfigRouteDeps {
  /** Read at each request; `reports` are asked for apart. */
  summary: () => Omit<SummaryParts, 'reports'>;
  /** One read of a row for each process. */
  reports: () => Promise<ReloadReport[]>;
}

/** interface: Config. */
export const configHandlers = ({
  summary,
  reports,
}: ConfigRouteDeps): HandlersOf<typeof configRoutes, Authentication> => ({
  configSummary: async () => {
    const parts = summary();
    return { status: 200, body: configSummaryOf({ ...parts, reports: parts.connected ? await known(reports) : [] }) };
  },
  reloadConfig: async ({ identity }) => {
    const { appliedKeys, deferredKeys } = await summary().config.reload('api', actorOf(identity));
    return { status: 200, body: { ok: true, appliedKeys, deferredKeys } };
  },
});

/** The store may go away between the look and the read: the summary answers all the same. */
async function known(reports: () => Promise<ReloadReport[]>): Promise<ReloadReport[]> {
  try {
    return await reports();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return [];
  }
}

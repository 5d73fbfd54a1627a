import type { repoRoutes } from '@pipeline/contract';
import { admin, type Engine } from '@pipeline/engine';
import type { HandlersOf } from '@pipeline/http';
import type { Authentication, Operator } from '../auth/authentication.ts';

export interface RepoRouteDeps {
  engine: Engine;
  /** null when this process has no credentials for hosts of that kind. */
  hostOfKind: admin.HostOfKind;
}

type Handlers = HandlersOf<typeof repoRoutes, Authentication>;

interface RepoCall {
  params: { owner: string; repo: string };
  query: { tenant?: string | undefined };
  body: { reason?: string | undefined; withoutReviewGate?: boolean | undefined };
  identity: Operator;
}

/** @param deps asked at each call. @throws AppError STORE_UNAVAILABLE where there is no store. */
export const repoHandlers = (deps: () => RepoRouteDeps): Handlers => {
  const by = ({ username }: Operator, reason: string | undefined): admin.Admin => ({
    engine: deps().engine,
    actor: username,
    reason: reason ?? null,
  });
  const checksOf = (administrator: admin.Admin, { repo, org }: { repo: string; org: string }) =>
    admin.examineAddedRepo(administrator, { slug: repo, org, hostOf: deps().hostOfKind });

  const setEnabled = (enabled: boolean) => async (call: RepoCall) => {
    const administrator = by(call.identity, call.body.reason);
    const { changed, underWay, ...repo } = await admin.enableRepo(administrator, slugOf(call), {
      org: call.query.tenant ?? null,
      enabled,
      gateOf: call.body.withoutReviewGate === true ? null : deps().hostOfKind,
    });
    const checks = enabled ? await checksOf(administrator, repo) : [];
    return { status: 200, body: { ok: true, changed, inProgress: underWay, repo, checks } } as const;
  };

  return {
    listRepos: async ({ identity }) => {
      const items = await admin.listRepos(by(identity, undefined), null);
      return { status: 200, body: { items, snapshot: true } };
    },
    addRepo: async ({ body, identity }) => {
      const { repo: slug, tenant, host, branch, enabled, reason, ...settings } = body;
      const administrator = by(identity, reason);
      const { added, ...repo } = await admin.addRepo(
        administrator,
        { slug, org: tenant ?? null, host: host ?? null, branch: branch ?? null, enabled, ...settings },
        deps().hostOfKind,
      );
      const checks = repo.enabled ? await checksOf(administrator, repo) : [];
      return { status: 200, body: { ok: true, added, repo, checks } };
    },
    enableRepo: setEnabled(true),
    disableRepo: setEnabled(false),
    removeRepo: async (call) => {
      const administrator = by(call.identity, call.body.reason);
      await admin.removeRepo(administrator, slugOf(call), { org: call.query.tenant ?? null });
      return { status: 200, body: { ok: true, removed: true } };
    },
  };
};

const slugOf = ({ params: { owner, repo } }: RepoCall): string => `${owner}/${repo}`;

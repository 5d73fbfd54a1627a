import {
  type CheckPolicy,
  type DoctorCheck,
  type DoctorCheckName,
  formatSlug,
  type HostDiagnostics,
  hostBoundTo,
  judgeClock,
  judgeCredentials,
  judgeInstallation,
  judgeLabels,
  judgeLastDelivery,
  judgeMergeMethod,
  judgePushProtection,
  judgeRepository,
  judgeRequiredChecks,
  judgeUserPermission,
  judgeWebhook,
  judgeWorkers,
  type MergeMethod,
  type PushProtectionCheck,
  type UnavailableReason,
  unknownCheck,
  type VcsHost,
} from '@pipeline/domain';
import {
  lastDeliveryAge,
  type OwnedRepo,
  onlineWorkersByType,
  postponeProtectionCheck,
  type RepoRow,
  recentCheckNames,
  refOf,
  reposOfAll,
  reposToCheck,
  savePushProtection,
} from '@pipeline/store';
import type { Admin } from '../context/admin.ts';
import type { Engine } from '../context/context.ts';
import type { HostOf } from './repo-address.ts';
import { confirmRepo } from './repo-identity.ts';
import { requireRepo } from './repos.ts';
import { type HostOfKind, readReviewGate } from './review-gate.ts';
import { type CheckList, type Deadline, runChecks } from './run-checks.ts';

/** Maximum number of repos per round: a handful of requests to the host. */
const MOST = 20;

interface ProtectionReport {
  onChecked(repo: RepoRow, check: PushProtectionCheck): void;
  onFailed(repo: RepoRow, error: unknown): void;
}

/** Access to the hosts for the checks of repositories. */
export interface DoctorContext {
  hostOf: HostOfKind;
  /** null without credentials. */
  diagnosticsOf(kind: string): Promise<HostDiagnostics | null>;
  now: () => Date;
  /** Bounds each check with all of its requests. */
  deadline: Deadline;
}

interface RepoExamination {
  org: string;
  repo: string;
  checks: DoctorCheck[];
}

/**
 * Checks the setup of a repo on its host and in the pipeline. A check that fails is unknown.
 * @throws AppError NOT_FOUND, INVALID_INPUT.
 */
export async function examineRepo(
  admin: Admin,
  { slug, org, ...context }: { slug: string; org: string | null } & DoctorContext,
): Promise<RepoExamination> {
  return examine(admin, await requireRepo(admin, slug, org), context);
}

/** Bound on the concurrent requests to a host. */
const CONCURRENT_REPOS = 5;

/** Examines every enabled repo, as `examineRepo` does. Repos of one host share its client. */
export async function examineEnabledRepos(admin: Admin, context: DoctorContext): Promise<RepoExamination[]> {
  const repos = await reposOfAll(admin.engine.store.db, null);
  const shared = {
    ...context,
    hostOf: onceByKind(context.hostOf),
    diagnosticsOf: onceByKind(context.diagnosticsOf),
  };
  const examined: RepoExamination[] = [];
  const enabled = repos.filter((repo) => repo.enabled);
  for (let next = 0; next < enabled.length; next += CONCURRENT_REPOS) {
    const some = enabled.slice(next, next + CONCURRENT_REPOS);
    examined.push(...(await Promise.all(some.map((repo) => examine(admin, repo, shared)))));
  }
  return examined;
}

async function examine(admin: Admin, repo: OwnedRepo, context: DoctorContext): Promise<RepoExamination> {
  const kind = repo.vcs_host;
  const diagnostics = required(kind, onceByKind(context.diagnosticsOf));
  const unbound = required(kind, onceByKind(context.hostOf));
  const host = async () => hostBoundTo(await unbound(), refOf(repo));
  const list: CheckList = {
    ...identityChecks(repo, { diagnostics, host, now: context.now }),
    repository: async () => {
      const current = await confirmRepo({ engine: admin.engine, repo, host: await host() });
      const reason = current.unavailable as UnavailableReason | null;
      return judgeRepository(formatSlug(current), reason, current.former_slug_keys);
    },
    webhook: async () => judgeWebhook(await (await diagnostics()).webhooks(refOf(repo))),
    'webhook-deliveries': async () => judgeLastDelivery(await lastDeliveryAge(admin.engine.store.db, repo)),
    'push-protection': () => pushProtection(admin, repo, context.hostOf),
    'review-gate': async () => readReviewGate(admin, gatedBranch(repo), await host()),
    ...mergeChecks(admin, repo, host),
    labels: async () => judgeLabels(await (await diagnostics()).labels(refOf(repo))),
    workers: async () => judgeWorkers(await onlineWorkersByType(admin.engine.store.db, repo)),
  };
  const checks = await runChecks(list, context.deadline);
  return { org: repo.org, repo: `${repo.owner}/${repo.name}`, checks };
}

interface HostAccess {
  diagnostics: () => Promise<HostDiagnostics>;
  host: () => Promise<VcsHost>;
  now: () => Date;
}

const REJECTED = 'the host rejects the credentials';

/** The checks that need the identity share one request. */
function identityChecks(repo: OwnedRepo, { diagnostics, host, now }: HostAccess): CheckList {
  const read = async () => {
    const client = await diagnostics();
    const sent = now().getTime();
    const identity = await client.identity();
    return { client, identity, middle: (sent + now().getTime()) / 2, half: (now().getTime() - sent) / 2 };
  };
  let reading: ReturnType<typeof read> | null = null;
  const identified = () => {
    reading ??= read();
    return reading;
  };
  return {
    credentials: async () => {
      const problem = await diagnostics().then(
        () => null,
        (error: unknown) => (error instanceof NoCredentials ? null : error),
      );
      if (problem instanceof Error) return { check: 'credentials', status: 'error', message: problem.message };
      return judgeCredentials((await identified()).identity);
    },
    'host-clock': async () => {
      const { identity, middle, half } = await identified();
      if (!identity) throw new Error(REJECTED);
      if (identity.at === null) throw new Error('the host did not report its time');
      // The host reports whole seconds.
      const skewMs = middle - (Date.parse(identity.at) + 500);
      return judgeClock('host-clock', { skewMs, precisionMs: half + 500 });
    },
    permissions: async () => {
      const { client, identity } = await identified();
      if (!identity) throw new Error(REJECTED);
      const installation = await client.installation(refOf(repo));
      if (installation) return judgeInstallation(installation);
      return judgeUserPermission(identity.login, await (await host()).permissionOf(repo, identity.login));
    },
  };
}

function mergeChecks(admin: Admin, repo: OwnedRepo, host: () => Promise<VcsHost>): CheckList {
  const rulesOf = async () => (await host()).mergeRulesOf(repo, repo.default_branch);
  return {
    'required-checks': async () => {
      const [{ requiredChecks }, reported, onBranch] = await Promise.all([
        rulesOf(),
        recentCheckNames(admin.engine.store.db, repo),
        host().then((client) => client.checksOf(repo, repo.default_branch)),
      ]);
      const seen = [...new Set([...reported, ...onBranch.map(({ name }) => name)])];
      return judgeRequiredChecks(repo.checks_policy as CheckPolicy, requiredChecks, seen);
    },
    'merge-method': async () => judgeMergeMethod(repo.merge_method as MergeMethod, await rulesOf()),
  };
}

/** Without credentials, the result of the monitor's last check. */
async function pushProtection(admin: Admin, repo: OwnedRepo, hostOf: HostOfKind): Promise<PushProtectionCheck> {
  const host = await hostOf(repo.vcs_host);
  if (host) return checkPushProtection(admin.engine, repo, host);
  const { push_restricted: restricted, push_checked_at: at } = repo;
  if (at === null) return unread(`${noCredentials(repo.vcs_host)}, and the monitor has not read it yet`);
  return judgePushProtection(repo.default_branch, { restricted, by: [`as the monitor read it at ${at}`] });
}

const noCredentials = (kind: string): string => `no credentials for ${kind} are set here`;
const unread = (message: string): PushProtectionCheck => ({ check: 'push-protection', status: 'unknown', message });

/** Checks the protection of the branch of a repo that was enabled. A failure of the host is an unknown result. */
export async function examineAddedRepo(
  admin: Admin,
  { slug, org, hostOf }: { slug: string; org: string | null; hostOf: HostOfKind },
): Promise<DoctorCheck[]> {
  const repo = await requireRepo(admin, slug, org);
  const failed = (check: DoctorCheckName) => (error: unknown) =>
    unknownCheck(check, `the host did not respond: ${error instanceof Error ? error.message : String(error)}`);
  const host = required(repo.vcs_host, hostOf);
  return Promise.all([
    pushProtection(admin, repo, hostOf).catch(failed('push-protection')),
    host()
      .then((client) => readReviewGate(admin, gatedBranch(repo), client))
      .catch(failed('review-gate')),
  ]);
}

const gatedBranch = (repo: OwnedRepo) => ({ slug: refOf(repo), branch: repo.default_branch, known: repo });

/** Nothing is set for the host, unlike an invalid setting. */
class NoCredentials extends Error {}

type OfKind<T> = (kind: string) => Promise<T>;

function onceByKind<T>(create: OfKind<T>): OfKind<T> {
  const created = new Map<string, Promise<T>>();
  return (kind) => {
    const known = created.get(kind) ?? create(kind);
    created.set(kind, known);
    return known;
  };
}

const required =
  <T>(kind: string, of: OfKind<T | null>) =>
  async (): Promise<T> => {
    const found = await of(kind);
    if (found === null) throw new NoCredentials(noCredentials(kind));
    return found;
  };

/**
 * Reads from the host which restrictions apply to pushes to the repo's default branch, and stores them. @throws what
 * the host's read throws.
 */
async function checkPushProtection({ store }: Engine, repo: RepoRow, host: VcsHost): Promise<PushProtectionCheck> {
  const protection = await host.pushProtectionOf(refOf(repo), repo.default_branch);
  await savePushProtection(store.db, repo, protection.restricted);
  return judgePushProtection(repo.default_branch, protection);
}

/**
 * Checks the repos that were enabled since the last round, and each other one once a day. A repo whose host fails is
 * retried an hour later and does not affect the others.
 */
export async function checkDueProtections(engine: Engine, hostOf: HostOf, report: ProtectionReport): Promise<void> {
  for (const repo of await reposToCheck(engine.store.db, MOST)) {
    const host = hostOf(repo);
    try {
      if (host) report.onChecked(repo, await checkPushProtection(engine, repo, host));
      else await postponeProtectionCheck(engine.store.db, repo);
    } catch (error) {
      await postponeProtectionCheck(engine.store.db, repo);
      report.onFailed(repo, error);
    }
  }
}

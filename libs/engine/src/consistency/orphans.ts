import { AppError, type ConsistencyFinding, type HostIssue, type VcsHost } from '@pipeline/domain';
import {
  enabledReposWithTenant,
  type RepoRow,
  type RepoWithTenant,
  requestIntake,
  sharedSlugs,
  unknownIssues,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { Actor } from '../context/issue-context.ts';
import type { HostOf } from '../repos/repo-address.ts';
import { findingOf } from './findings.ts';
import { recordRepair } from './repair-record.ts';
import { type Target, targetOf } from './target.ts';

const KIND = 'orphan_missing_from_pg';

interface OpenIssues {
  etag: string | null;
  issues: HostIssue[];
}

interface OrphanWatchDeps {
  engine: Engine;
  hostOf: HostOf;
  /** Called with a repo whose host could not be read; the others continue. */
  onError(repo: RepoRow, error: unknown): void;
}

/**
 * Finds open issues of the hosts that have no record in the pipeline. Optional, because it sends requests to the hosts:
 * the caller creates one and runs it periodically. It caches the last response of each repo, so that an unchanged one
 * costs a conditional request, and one that cannot be read keeps its last response.
 */
export class OrphanWatch {
  readonly #deps: OrphanWatchDeps;
  /** Open issues by tenant and repo. */
  #known = new Map<string, OpenIssues>();

  constructor(deps: OrphanWatchDeps) {
    this.#deps = deps;
  }

  /** Reads the host of every enabled repo, one after the other. A host without a connection here has none. */
  async check(): Promise<void> {
    const { engine, hostOf } = this.#deps;
    const known = new Map<string, OpenIssues>();
    for (const repo of await enabledReposWithTenant(engine.store.db)) {
      const host = hostOf(repo);
      const open = host && (await this.#ask(repo, host));
      if (open) known.set(keyOf(repo), open);
    }
    this.#known = known;
  }

  /** Compares the last host responses with the current store. @returns the findings by repo and issue. */
  async findings(): Promise<ConsistencyFinding[]> {
    const { engine } = this.#deps;
    const findings: ConsistencyFinding[] = [];
    if (this.#known.size === 0) return findings;
    const shared = await sharedSlugs(engine.store.db);
    for (const repo of await enabledReposWithTenant(engine.store.db)) {
      const open = this.#known.get(keyOf(repo));
      if (open) findings.push(...(await orphansOf(engine, repo, open.issues, shared.has(repo.slug_key))));
    }
    return findings;
  }

  async #ask(repo: RepoWithTenant, host: VcsHost): Promise<OpenIssues | undefined> {
    const before = this.#known.get(keyOf(repo));
    try {
      const answer = await host.listIssues(repo, { state: 'open', ...(before?.etag && { etag: before.etag }) });
      return answer ?? before;
    } catch (error) {
      this.#deps.onError(repo, error);
      return before;
    }
  }
}

const keyOf = (repo: RepoRow): string => `${repo.tenant_id}/${repo.id}`;

async function orphansOf(engine: Engine, repo: RepoWithTenant, issues: readonly HostIssue[], shared: boolean) {
  const byNumber = new Map(issues.map((issue) => [issue.number, issue]));
  const numbers = await unknownIssues(engine.store.db, repo.tenant_id, repo.id, [...byNumber.keys()]);
  return numbers.flatMap((number) => {
    const issue = byNumber.get(number);
    return issue ? [orphanOf(repo, issue, shared)] : [];
  });
}

function orphanOf(repo: RepoWithTenant, issue: HostIssue, shared: boolean): ConsistencyFinding {
  const { title, url, author, labels, createdAt } = issue;
  const detail = { title, url, author, labels, createdAt };
  return findingOf(KIND, { repo, tenant: repo.tenant, issueNumber: issue.number, detail }, shared);
}

/**
 * Requests, through the outbox, that the host labels an orphan for intake, which then admits it. The host is read
 * first, outside any transaction. A repeated or concurrent call adds no request.
 * @returns the finding after the call; null when the issue is no orphan, or its label is pending.
 * @throws AppError CONSISTENCY_FINDING_NOT_FOUND, INVALID_ARGUMENT, as for `targetOf`; STORE_UNAVAILABLE when this
 * process has no access to the repo's host, or the host does not answer.
 */
export async function enqueueOrphan(
  engine: Engine,
  hostOf: HostOf,
  id: string,
  actor: Actor,
): Promise<ConsistencyFinding | null> {
  const target = await targetOf(engine, id, KIND);
  const { repo, number } = target;
  const issue = await onHost(hostOf(repo), target);
  if (issue?.state !== 'open') return null;
  return inTenant(engine, repo.tenant_id, async (unit) => {
    const isOrphan = async () => (await unknownIssues(unit.tx, unit.tenantId, repo.id, [number])).length > 0;
    if (!(await isOrphan())) return null;
    if (await requestIntake(unit.tx, repo, number)) {
      recordRepair(unit, { target, issue: undefined }, actor, { action: 'enqueue-orphan' });
      unit.notify('svc_projections');
    }
    return (await isOrphan()) ? orphanOf(repo, issue, target.shared) : null;
  });
}

async function onHost(host: VcsHost | null, { repo, number }: Target): Promise<HostIssue | null> {
  if (!host)
    throw new AppError('STORE_UNAVAILABLE', `The write service of ${repo.owner}/${repo.name} is not connected`);
  try {
    return await host.getIssue(repo, number);
  } catch (error) {
    const message = `The host of ${repo.owner}/${repo.name} does not respond`;
    throw new AppError('STORE_UNAVAILABLE', message, { cause: error });
  }
}

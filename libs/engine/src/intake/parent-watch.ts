import type { VcsHost } from '@pipeline/domain';
import {
  isLeadershipLost,
  type RepoRow,
  repoById,
  resolveEdgesToHost,
  type UnrecordedParent,
  unrecordedParents,
} from '@pipeline/store';
import { type Engine, inTenant } from '../context/context.ts';
import type { HostOf } from '../repos/repo-address.ts';

interface ParentWatchDeps {
  engine: Engine;
  hostOf: HostOf;
  now: () => Date;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
}

/** Requests per round: with one round in 30 s a tenth of a host's hourly limit, and 304s are free. */
const MAX_READS = 5;
/** Minimum time between two reads of a parent. */
const MIN_READ_INTERVAL_MS = 5 * 60_000;

interface LastRead {
  etag: string | null;
  at: number;
}

interface ParentRead {
  engine: Engine;
  repo: RepoRow;
  host: VcsHost;
  etag: string | null;
}

/**
 * Reads from the host the parents without a record that issues wait for. Webhooks and polls report their close too, but
 * a delivery can be lost and a close can fall between two polls. Its data is in memory only: after a restart each
 * parent is read once without its etag.
 */
export class ParentWatch {
  readonly #deps: ParentWatchDeps;
  readonly #lastReads = new Map<string, LastRead>();
  /** The cursor of the next round; null = from the beginning. */
  #after: UnrecordedParent | null = null;

  constructor(deps: ParentWatchDeps) {
    this.#deps = deps;
  }

  /**
   * Checks a bounded number of parents.
   * @param engine has the fence of the leader; default: the engine of the constructor.
   * @returns how many were closed or missing.
   */
  async check(engine: Engine = this.#deps.engine): Promise<number> {
    const { hostOf, now } = this.#deps;
    const parents = await unrecordedParents(engine.store.db, this.#after, 100);
    if (parents.length === 0) this.#forgetEnded();
    let [reads, resolved] = [0, 0];
    this.#after = null;
    for (const parent of parents) {
      if (reads >= MAX_READS) return resolved;
      this.#after = parent;
      const last = this.#lastReads.get(keyOf(parent));
      if (last && now().getTime() - last.at < MIN_READ_INTERVAL_MS) continue;
      const repo = await repoById(engine.store.db, parent.tenant_id, parent.repo_id);
      const host = hostOf(repo);
      if (!host || repo.unavailable !== null) continue;
      reads += 1;
      if (await this.#read(parent, { engine, repo, host, etag: last?.etag ?? null })) resolved += 1;
    }
    if (parents.length < 100) this.#after = null;
    return resolved;
  }

  async #read(parent: UnrecordedParent, { engine, repo, host, etag }: ParentRead): Promise<boolean> {
    const { now, log } = this.#deps;
    const at = now().getTime();
    this.#lastReads.set(keyOf(parent), { etag, at });
    try {
      const found = await host.standingOf(repo, parent.number, etag ?? undefined);
      if (found === null) return false;
      this.#lastReads.set(keyOf(parent), { etag: found.etag, at });
      return found.state === 'open' ? false : await resolve(engine, parent, found.state);
    } catch (error) {
      if (isLeadershipLost(error)) throw error;
      const issue = `${repo.owner}/${repo.name}#${parent.number}`;
      log.warn('a blocking issue could not be read from the host', { issue, error });
      return false;
    }
  }

  /** No issue waits for those any more. */
  #forgetEnded(): void {
    const before = this.#deps.now().getTime() - 2 * MIN_READ_INTERVAL_MS;
    for (const [key, { at }] of this.#lastReads) if (at < before) this.#lastReads.delete(key);
  }
}

/** Releases the issues that waited for it. */
function resolve(
  engine: Engine,
  { tenant_id, repo_id, number }: UnrecordedParent,
  by: 'closed' | 'missing',
): Promise<boolean> {
  return inTenant(engine, tenant_id, async (unit) => {
    const waited = await resolveEdgesToHost(unit.tx, tenant_id, { repoId: repo_id, number }, by);
    if (waited) unit.notify('svc_cache');
    return waited;
  });
}

const keyOf = ({ tenant_id, repo_id, number }: UnrecordedParent): string => `${tenant_id}/${repo_id}#${number}`;

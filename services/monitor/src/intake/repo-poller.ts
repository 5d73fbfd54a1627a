import { formatSlug, isReadable, problemOfRepo, type UnavailableReason } from '@pipeline/domain';
import { confirmRepo, type Engine, type HostOf, type Intake, type Leader, pollRepo } from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { enabledRepos, isLeadershipLost, type RepoRow, saveSyncState, syncStateOf } from '@pipeline/store';
import { HostError } from '@pipeline/vcs';
import { Flights } from '../loops/flights.ts';

export interface PollerDeps {
  engine: Engine;
  hostOf: HostOf;
  leader: Leader;
  log: Logger;
  now: () => Date;
}

interface Turn {
  /** Epoch milliseconds of the next poll. */
  at: number;
  failures: number;
  /** Time at which its name and its state were last read from the host, epoch milliseconds; 0 = not since the start. */
  confirmedAt: number;
}

const PARALLEL = 4;
/** A rename is reported by a webhook; this is for one that was lost. */
const CONFIRM_MS = 10 * 60_000;
const MAX_BACKOFF_MS = 10 * 60_000;
const STOP_GRACE_MS = 3_000;

/**
 * Polls every enabled repo at its interval, a new one immediately. Repos are polled concurrently, so one that fails or
 * hangs delays no other: its error is stored in repo_sync, and its interval grows with each failure.
 * Cost of a tick: nothing while no repo is due, else one read of the enabled repos.
 */
export class RepoPoller {
  readonly #deps: PollerDeps;
  readonly #flights = new Flights();
  #turns = new Map<string, Turn>();
  #lookAgain = true;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
  }

  /** Repos may have been enabled: the next tick looks for new ones. */
  lookAgain(): void {
    this.#lookAgain = true;
  }

  async tick(): Promise<void> {
    const { engine, leader } = this.#deps;
    await leader.run(engine, (leading) => this.#startDue(leading));
  }

  async #startDue(engine: Engine): Promise<void> {
    const { hostOf } = this.#deps;
    if (!this.#anyDue()) return;
    this.#lookAgain = false;
    const repos = await enabledRepos(engine.store.db);
    const turns = new Map(
      repos.map((repo) => [keyOf(repo), this.#turns.get(keyOf(repo)) ?? { at: 0, failures: 0, confirmedAt: 0 }]),
    );
    this.#turns = turns;
    for (const repo of repos) {
      const host = hostOf(repo);
      const turn = turns.get(keyOf(repo));
      if (!host || !turn || turn.at > this.#now() || this.#flights.has(keyOf(repo))) continue;
      if (this.#flights.size >= PARALLEL) return this.lookAgain();
      void this.#flights.start(keyOf(repo), () => this.#poll({ engine, repo, host }, turn));
    }
  }

  /** Waits for the polls in progress. @returns whether there was any. */
  landed(): Promise<boolean> {
    return this.#flights.landed();
  }

  stop(): Promise<void> {
    return this.#flights.stop(STOP_GRACE_MS);
  }

  /** Reads what the repo is called now, once in a while, and at once while it is not known or cannot be worked on. */
  async #confirmed({ engine, repo, host }: Intake, turn: Turn): Promise<RepoRow> {
    const isDue = repo.host_id === null || repo.unavailable !== null || turn.confirmedAt + CONFIRM_MS <= this.#now();
    if (!isDue) return repo;
    const confirmed = await confirmRepo({ engine, repo, host });
    turn.confirmedAt = this.#now();
    return confirmed;
  }

  async #read(intake: Intake, repo: RepoRow, turn: Turn): Promise<void> {
    const { hostOf, now } = this.#deps;
    const reason = repo.unavailable as UnavailableReason | null;
    if (!isReadable(reason)) return this.#note(intake, reason && `${formatSlug(repo)} ${problemOfRepo(reason)}`);
    await pollRepo({ ...intake, repo, host: hostOf(repo) ?? intake.host }, now);
    // An unchanged repo writes nothing, so an error of before is taken back here.
    if (turn.failures > 0 || turn.at === 0 || intake.repo.unavailable !== null) await this.#note(intake, null);
  }

  async #poll(intake: Intake, turn: Turn): Promise<void> {
    const { log } = this.#deps;
    const { engine, repo } = intake;
    const everyMs = engine.settings().pollIntervals.sprintMaster * 1000;
    try {
      await this.#read(intake, await this.#confirmed(intake, turn), turn);
      turn.failures = 0;
      turn.at = this.#now() + everyMs;
    } catch (error) {
      // The successor polls it.
      if (isLeadershipLost(error)) return;
      turn.failures += 1;
      const backoff = Math.min(everyMs * 2 ** turn.failures, Math.max(MAX_BACKOFF_MS, everyMs));
      turn.at = Math.max(this.#now() + backoff, retryAt(error));
      log.warn('poll of a repo failed', { repo: `${repo.owner}/${repo.name}`, failures: turn.failures, error });
      const message = error instanceof Error ? error.message : String(error);
      await this.#note(intake, message).catch((cause: unknown) =>
        log.warn('the error of the task could not be recorded', { error: cause }),
      );
    }
  }

  async #note({ engine, repo: { tenant_id, id } }: Intake, error: string | null): Promise<void> {
    const db = engine.store.db;
    const { etag, cursor } = await syncStateOf(db, tenant_id, id);
    await saveSyncState(db, tenant_id, id, { etag, cursor, error });
  }

  #anyDue(): boolean {
    const now = this.#now();
    return this.#lookAgain || [...this.#turns].some(([key, { at }]) => at <= now && !this.#flights.has(key));
  }

  #now(): number {
    return this.#deps.now().getTime();
  }
}

const keyOf = (repo: RepoRow): string => `${repo.tenant_id}/${repo.id}`;

const retryAt = (error: unknown): number =>
  error instanceof HostError && error.retryAt !== null ? Date.parse(error.retryAt) : 0;

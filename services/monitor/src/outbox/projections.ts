import {
  type ExecuteResult,
  hostBoundTo,
  LANES,
  type ProjectionAction,
  type VcsHost,
  writesOf,
} from '@pipeline/domain';
import {
  beginSending,
  type Engine,
  type Leader,
  type LeadingEngine,
  passMergeGate,
  type Sending,
  sendable,
  settle,
} from '@pipeline/engine';
import type { Logger } from '@pipeline/runtime';
import { isLeadershipLost, refOf, type SendableProjection, type Term } from '@pipeline/store';
import { HostError } from '@pipeline/vcs';
import type { WriteBudget } from '../hosts/write-budget.ts';
import { Flights } from '../loops/flights.ts';
import type { OutboxMetrics } from './metrics.ts';

export interface ExecutorDeps {
  engine: Engine;
  host: VcsHost;
  leader: Leader;
  /** null = the host asks for no restraint. */
  budget: WriteBudget | null;
  metrics: OutboxMetrics;
  log: Logger;
  now: () => Date;
}

interface Attempt {
  /** The attempt is begun as the leader or not at all. */
  engine: LeadingEngine;
  tenantId: number;
  id: number;
  /** Ends with the process. */
  stopping: AbortSignal;
}

/** After an attempt whose end could not be written down, its issue rests; the entry stays in doubt. */
const REST_MS = 30_000;
const STOP_GRACE_MS = 3_000;

/** One attempt of an issue at a time. */
type IssueOfEntry = Pick<SendableProjection, 'tenant_id' | 'repo_id' | 'issue_number'>;
const keyOf = ({ tenant_id, repo_id, issue_number }: IssueOfEntry): string => `${tenant_id}/${repo_id}#${issue_number}`;

/**
 * Writes the outbox to one host. One replica leads; issues go in parallel, one entry
 * of an issue at a time, each lane in order. A tick only starts attempts; each runs
 * begin (marked as in doubt) -> execute -> settle (compare-and-set), so a crash anywhere leaves an entry that the next
 * leader looks up on the host before it writes again.
 * Cost of a tick: one indexed read of open entries; none while read ones wait for a free place, or the host has asked us
 * to wait.
 */
export class ProjectionExecutor {
  readonly #deps: ExecutorDeps;
  readonly #flights = new Flights();
  readonly #resting = new Map<string, number>();
  /** Entries that were read in a term and not started: while there are any, a tick reads no others. */
  #ready: SendableProjection[] = [];
  #readIn: Term | null = null;
  /** Entries whose attempts are in progress by id, and whether their lane had a next one when it was last read. */
  readonly #sending = new Map<number, boolean>();
  #waitUntil = 0;
  /** Called when an attempt has ended and there is a next entry that may go. */
  onLanded: () => void = () => undefined;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  async tick(): Promise<void> {
    const { engine, leader } = this.#deps;
    await leader.run(engine, (leading) => this.#startAttempts(leading));
  }

  async #startAttempts(engine: LeadingEngine): Promise<void> {
    const { host } = this.#deps;
    if (this.#now() < this.#waitUntil) return;
    // Another leader may have sent what was read in an earlier term.
    if (this.#readIn !== engine.term) this.#ready = [];
    if (this.#startReady(engine)) return;
    const sending = new Set(this.#sending.keys());
    // Each issue in flight hides at most its lanes, so this many rows always show whatever else could start.
    const limit = (this.#flights.size + engine.settings().hostBudget.parallelIssues) * LANES.length;
    const entries = await sendable(engine, host.clientType, limit);
    // One that was queued behind an attempt in progress does not show until that ends.
    for (const { id, has_next } of entries) if (this.#sending.has(id)) this.#sending.set(id, has_next);
    // The attempts of these may have ended while the list was read.
    this.#ready = entries.filter(({ id }) => !sending.has(id));
    this.#readIn = engine.term;
    this.#startReady(engine);
  }

  /** Starts attempts of the entries that were read, oldest first. @returns whether a limit ended it. */
  #startReady(engine: LeadingEngine): boolean {
    const { budget } = this.#deps;
    const { parallelIssues } = engine.settings().hostBudget;
    let isLimited = false;
    this.#ready = this.#ready.filter(({ tenant_id, id, has_next, ...entry }) => {
      const key = keyOf({ tenant_id, ...entry });
      isLimited ||= this.#flights.size >= parallelIssues;
      if (isLimited || this.#flights.has(key) || this.#rests(key)) return true;
      const reserved = budget?.reserve(writesOf(entry.action)) ?? null;
      isLimited = budget !== null && reserved === null;
      if (isLimited) return true;
      this.#sending.set(id, has_next);
      const flight = this.#flights.start(key, (stopping) =>
        this.#attempt(key, { engine, tenantId: tenant_id, id, stopping }).finally(() => reserved?.()),
      );
      void flight.then(() => this.#landed(id));
      return false;
    });
    return isLimited;
  }

  /** Waits for the attempts in progress. @returns whether there was any. */
  landed(): Promise<boolean> {
    return this.#flights.landed();
  }

  stop(): Promise<void> {
    return this.#flights.stop(STOP_GRACE_MS);
  }

  /**
   * Removes an entry whose attempt has ended. Entries that were queued since the last read have a notification of their
   * own, which causes another read.
   */
  #landed(id: number): void {
    const hasNext = this.#sending.get(id) ?? false;
    this.#sending.delete(id);
    if (hasNext || this.#ready.length > 0) this.onLanded();
  }

  async #attempt(key: string, attempt: Attempt): Promise<void> {
    const { log } = this.#deps;
    const { engine, tenantId, id } = attempt;
    try {
      const sending = await beginSending(engine, tenantId, id);
      if (sending) await this.#send(sending, attempt);
    } catch (error) {
      // The successor looks on the host what became of it.
      if (isLeadershipLost(error)) return;
      this.#resting.set(key, this.#now() + REST_MS);
      log.error('attempt of a projection was not finished', { projectionId: id, error });
    }
  }

  /** The result is recorded also when the lead was lost meanwhile: what the host did is a fact (see `settle`). */
  async #send(sending: Sending, { engine: leading, stopping }: Attempt): Promise<void> {
    const { engine } = this.#deps;
    const { projection, repo, mayHaveHappened } = sending;
    const host = hostBoundTo(this.#deps.host, refOf(repo));
    const { workerLogins } = engine.settings().review;
    const { term } = leading;
    if (!term.isHeld()) return;
    const signal = AbortSignal.any([term.signal, stopping]);
    const context = { mayHaveHappened, workerLogins, signal, mayWrite: () => term.isHeld() };
    const passed = await this.#pass(leading, sending, host);
    if (passed === null) return;
    const result = 'status' in passed ? passed : await host.execute(repo, projection.issue_number, passed, context);
    // We broke it off ourselves: it stays in doubt and costs no attempt.
    if ((signal.aborted || !term.isHeld()) && result.status === 'failed') return;
    if (result.status === 'rate-limited') this.#waitUntil = Math.max(this.#waitUntil, Date.parse(result.retryAt));
    await settle(engine, sending, result);
    this.#record(sending, result);
  }

  /** The write to send, the result of a host that could not be asked, or null for a merge that waits. */
  async #pass(engine: Engine, sending: Sending, host: VcsHost): Promise<ProjectionAction | ExecuteResult | null> {
    try {
      return await passMergeGate(engine, sending, host);
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      const { kind, message, retryAt } = error;
      if (kind === 'no-access') return { status: 'no-access', message };
      return retryAt === null
        ? { status: 'failed', message, ambiguous: false }
        : { status: 'rate-limited', message, retryAt };
    }
  }

  #record({ projection }: Sending, result: ExecuteResult): void {
    const { metrics, log } = this.#deps;
    const { type } = projection.action;
    metrics.attempts.inc({ type, outcome: result.status });
    const fields = { projectionId: projection.id, issue: projection.issue_number, type };
    if (result.status === 'queued') {
      log.info('merge waits in the queue of the host', { ...fields, message: result.message });
      return;
    }
    if (result.status !== 'ok') {
      log.warn('projection failed', { ...fields, ...result });
      return;
    }
    metrics.lag.observe((this.#now() - Date.parse(projection.created_at)) / 1000);
    log.info('projection completed', { ...fields, repeated: result.repeated });
  }

  #rests(key: string): boolean {
    const until = this.#resting.get(key);
    if (until === undefined) return false;
    if (this.#now() < until) return true;
    this.#resting.delete(key);
    return false;
  }

  #now(): number {
    return this.#deps.now().getTime();
  }
}

import type { EmbeddingEndpoint, Settings } from '@pipeline/domain';
import {
  assertLeader,
  type Fence,
  insertRecords,
  inTransaction,
  LeadershipLostError,
  noRecords,
  type Records,
  refreshIssueList,
  type Send,
  type Store,
  type Tx,
} from '@pipeline/store';

/** The doorbells that the engine rings after a commit. */
export type Bell = 'svc_tasks' | 'svc_projections' | 'svc_stream' | 'svc_cache';

/** Makes vectors of texts; near vectors have near meanings. */
export interface Embedder {
  /**
   * @returns one vector of length 1 for each text, in their order.
   * @throws EmbeddingError when the endpoint is away, slow or answers nonsense; for 30 s after that at once.
   */
  embed(texts: readonly string[], endpoint: EmbeddingEndpoint): Promise<number[][]>;
}

/** What every use case needs. Made once in main; holds no state of its own. */
export interface Engine {
  store: Store;
  /** Says after a commit that there is something new for whoever listens; the news itself is in the tables. */
  ring(bell: Bell, tenantId: number): void;
  /** The settings in force now; they may change between two calls. */
  settings(): Settings;
  /** 0 <= random < 1, for the jitter of backoffs. */
  random(): number;
  /** For the recall of intelligence by meaning; without it there is none. */
  embedder?: Embedder;
  /** Set by `fencedBy`: the leadership under which everything is written. */
  fence?: Fence;
}

/** One transaction of one tenant, and the bells to ring when it has committed. */
export interface Unit {
  tx: Tx;
  /**
   * Sends a statement whose answer nobody here needs: what follows is sent behind it at once. If it fails, the transaction
   * does.
   */
  send: Send;
  tenantId: number;
  settings: Settings;
  random(): number;
  ring(bell: Bell): void;
  /** What goes into the logs; written by one statement when the work is done. */
  records: Records;
  /** Issues, locked here, whose row in lists and counts is written anew when the work is done. */
  relisted: Relisted;
  /** USD booked in this transaction and not yet on the tenant's day. */
  bookedUsd: number;
  /**
   * Puts off what many transactions of the tenant wait for each other over (the day's spending, alerts) to the end of
   * this one, after everything else is written.
   */
  atEnd(work: () => Promise<void>): void;
}

interface Relisted {
  changed: Set<number>;
  /** Those of which only the status or the cost changed, which lists need not show at once. */
  passing: Set<number>;
}

/**
 * Runs a use case as one transaction. The work may run again after a deadlock, so it has no effect but its statements;
 * bells ring once, after the commit.
 */
export async function inTenant<T>(engine: Engine, tenantId: number, work: (unit: Unit) => Promise<T>): Promise<T> {
  let bells = new Set<Bell>();
  const result = await inFencedTransaction(engine, async (tx, send) => {
    bells = new Set();
    const atEnd: (() => Promise<void>)[] = [];
    const relisted: Relisted = { changed: new Set(), passing: new Set() };
    const unit: Unit = {
      tx,
      send,
      tenantId,
      settings: engine.settings(),
      random: engine.random,
      ring: (bell) => void bells.add(bell),
      records: noRecords(),
      relisted,
      bookedUsd: 0,
      atEnd: (more) => void atEnd.push(more),
    };
    const done = await work(unit);
    send(insertRecords(tx, tenantId, unit.records));
    send(relist(tx, tenantId, relisted));
    if (atEnd.length === 0) return done;
    unit.records = noRecords();
    for (const each of atEnd) await each();
    send(insertRecords(tx, tenantId, unit.records));
    return done;
  });
  for (const bell of bells) engine.ring(bell, tenantId);
  return result;
}

/**
 * A transaction of the tenant pool. For an engine with a fence it fails once another process leads; the check is sent
 * ahead and costs no round trip.
 */
export function inFencedTransaction<T>(engine: Engine, work: (tx: Tx, send: Send) => Promise<T>): Promise<T> {
  const { fence } = engine;
  return inTransaction(engine.store.tenant, (tx, send) => {
    if (fence) send(assertLeader(tx, fence));
    return work(tx, send);
  });
}

/**
 * The same engine for work that one process does for all. Its transactions fail when another process has taken over,
 * and every access to the store when this process can no longer be sure that it leads, such as after it was frozen.
 */
export const fencedBy = (engine: Engine, fence: Fence): Engine => ({
  ...engine,
  fence,
  store: fencedStore(engine.store, fence),
});

function fencedStore(store: Store, fence: Fence): Store {
  const whileHeld = <T>(value: T): T => {
    if (!fence.isHeld()) throw new LeadershipLostError(fence.name);
    return value;
  };
  return {
    get tenant() {
      return whileHeld(store.tenant);
    },
    get fleet() {
      return whileHeld(store.fleet);
    },
    get read() {
      return whileHeld(store.read);
    },
    get quick() {
      return whileHeld(store.quick);
    },
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** One statement, whatever a use case did to an issue. */
async function relist(tx: Tx, tenantId: number, { changed, passing }: Relisted): Promise<void> {
  const isPassing = changed.size === 0;
  await refreshIssueList(tx, tenantId, isPassing ? [...passing] : [...changed], isPassing);
}

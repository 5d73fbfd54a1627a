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
  type Store,
  type Tx,
} from '@pipeline/store';
import { ChangedRows } from './changed-rows.ts';

/** The channels that the engine notifies after a commit. */
export type NotifiedChannel = 'svc_tasks' | 'svc_projections' | 'svc_stream' | 'svc_inbox' | 'svc_cache';

/** Computes vectors of texts; near vectors have near meanings. */
export interface Embedder {
  /**
   * @returns one vector of length 1 for each text, in order.
   * @throws EmbeddingError when the endpoint is unavailable, slow or returns an invalid response; for 30 s after that
   * without a request.
   */
  embed(texts: readonly string[], endpoint: EmbeddingEndpoint): Promise<number[][]>;
}

/** Dependencies of every use case. Created once in main; has no state of its own. */
export interface Engine {
  store: Store;
  /** Notifies listeners after a commit; the notification carries no data. */
  notify(channel: NotifiedChannel, tenantId: number): void;
  /** The current settings; they may change between two calls. */
  settings(): Settings;
  /** 0 <= random < 1, for the jitter of backoffs. */
  random(): number;
  /** Embedder for semantic search of intelligence; without it there is none. */
  embedder?: Embedder;
  /** Set by `fencedBy`: the leadership that all writes require. */
  fence?: Fence;
}

/** One transaction of one tenant, and the channels to notify after its commit. */
export interface TransactionContext {
  tx: Tx;
  /** Columns of locked issues and runs; written at the end. */
  rows: ChangedRows;
  tenantId: number;
  settings: Settings;
  random(): number;
  notify(channel: NotifiedChannel): void;
  /** Log entries; written by one statement at the end. */
  records: Records;
  /** Issues, locked here, whose list row and counts are rewritten at the end. */
  dirtyIssues: DirtyIssues;
  /**
   * Defers writes of contended rows of the tenant (alerts, what was reported of its day) to the end of the transaction, after
   * everything else.
   */
  atEnd(work: () => Promise<void>): void;
}

interface DirtyIssues {
  changed: Set<number>;
  /** Issues with changes of status or cost only, which lists need not show immediately. */
  minor: Set<number>;
}

/**
 * Runs a use case as one transaction. The work may run again after a deadlock, so it must have no effect but its
 * statements; notifications are sent once, after the commit.
 */
export async function inTenant<T>(
  engine: Engine,
  tenantId: number,
  work: (unit: TransactionContext) => Promise<T>,
): Promise<T> {
  let channels = new Set<NotifiedChannel>();
  const result = await inFencedTransaction(engine, async (tx) => {
    channels = new Set();
    const atEnd: (() => Promise<void>)[] = [];
    const dirtyIssues: DirtyIssues = { changed: new Set(), minor: new Set() };
    const unit: TransactionContext = {
      tx,
      rows: new ChangedRows(tx, tenantId),
      tenantId,
      settings: engine.settings(),
      random: engine.random,
      notify: (channel) => void channels.add(channel),
      records: noRecords(),
      dirtyIssues,
      atEnd: (more) => void atEnd.push(more),
    };
    const done = await work(unit);
    // In this order, as the list rows are computed from the issues.
    await Promise.all([
      unit.rows.write(),
      insertRecords(tx, tenantId, unit.records),
      refreshLists(tx, tenantId, dirtyIssues),
    ]);
    if (atEnd.length === 0) return done;
    unit.records = noRecords();
    for (const each of atEnd) await each();
    await insertRecords(tx, tenantId, unit.records);
    return done;
  });
  for (const channel of channels) engine.notify(channel, tenantId);
  return result;
}

/** A transaction of the tenant pool. For an engine with a fence it fails once another process leads. */
export function inFencedTransaction<T>(engine: Engine, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { fence } = engine;
  return inTransaction(engine.store.db, async (tx) => {
    if (fence) await assertLeader(tx, fence);
    return work(tx);
  });
}

/**
 * The same engine for work that only the leader does. Its transactions fail when another process has taken over, and
 * every access to the store fails when this process can no longer be sure that it leads, such as after a freeze.
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
    get db() {
      return whileHeld(store.db);
    },
    get reads() {
      return whileHeld(store.reads);
    },
    isReplicaUsed: store.isReplicaUsed,
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** One statement for a use case of one issue, whatever it did to it. */
async function refreshLists(tx: Tx, tenantId: number, { changed, minor }: DirtyIssues): Promise<void> {
  await Promise.all([
    refreshIssueList(tx, tenantId, [...changed], false),
    refreshIssueList(tx, tenantId, [...minor.difference(changed)], true),
  ]);
}

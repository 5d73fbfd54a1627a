import type { EmbeddingEndpoint, Settings } from '@pipeline/domain';
import {
  assertLeader,
  insertRecords,
  inTransaction,
  noRecords,
  type Records,
  refreshIssueList,
  type Send,
  type Store,
  type Term,
  type Tx,
} from '@pipeline/store';

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
  /** The term that all writes require; set by `Leader`. */
  term?: Term;
}

/** One transaction of one tenant, and the channels to notify after its commit. */
export interface TransactionContext {
  tx: Tx;
  /** Sends a statement whose result is not needed here, without waiting for it. If it fails, the transaction fails. */
  send: Send;
  /**
   * Sends the writes that wait to become one statement with later ones. Called between the parts of a transaction that
   * write the same tables for different issues: each part is then one statement.
   */
  flush(): void;
  tenantId: number;
  settings: Settings;
  random(): number;
  notify(channel: NotifiedChannel): void;
  /** Log entries; written by one statement at the end. */
  records: Records;
  /** Issues, locked here, whose list row and counts are rewritten at the end. */
  dirtyIssues: DirtyIssues;
  /** USD recorded in this transaction and not yet added to the tenant's day. */
  bookedUsd: number;
  /**
   * Defers writes of contended rows of the tenant (alerts, the day's spending) to the end of the transaction, after
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
  const result = await inFencedTransaction(engine, async (tx, send, flush) => {
    channels = new Set();
    const atEnd: (() => Promise<void>)[] = [];
    const dirtyIssues: DirtyIssues = { changed: new Set(), minor: new Set() };
    const unit: TransactionContext = {
      tx,
      send,
      flush,
      tenantId,
      settings: engine.settings(),
      random: engine.random,
      notify: (channel) => void channels.add(channel),
      records: noRecords(),
      dirtyIssues,
      bookedUsd: 0,
      atEnd: (more) => void atEnd.push(more),
    };
    const done = await work(unit);
    send(insertRecords(tx, tenantId, unit.records));
    send(refreshLists(tx, tenantId, dirtyIssues));
    if (atEnd.length === 0) return done;
    unit.records = noRecords();
    for (const each of atEnd) await each();
    send(insertRecords(tx, tenantId, unit.records));
    return done;
  });
  for (const channel of channels) engine.notify(channel, tenantId);
  return result;
}

/**
 * A transaction. For the engine of a leader it fails once another process leads; the check is
 * pipelined and costs no round trip.
 */
export function inFencedTransaction<T>(
  engine: Engine,
  work: (tx: Tx, send: Send, flush: () => void) => Promise<T>,
): Promise<T> {
  const { term } = engine;
  return inTransaction(engine.store.db, (tx, send, flush) => {
    if (term) send(assertLeader(tx, term));
    return work(tx, send, flush);
  });
}

/** One statement for a use case of one issue, whatever it did to it. */
async function refreshLists(tx: Tx, tenantId: number, { changed, minor }: DirtyIssues): Promise<void> {
  await Promise.all([
    refreshIssueList(tx, tenantId, [...changed], false),
    refreshIssueList(tx, tenantId, [...minor.difference(changed)], true),
  ]);
}

import type { EmbeddingEndpoint, Settings } from '@pipeline/domain';
import {
  assertLeader,
  insertRecords,
  inTransaction,
  noRecords,
  type Records,
  refreshIssueList,
  type Store,
  type Term,
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
  /** The term that all writes require; set by `Leader`. */
  term?: Term;
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
    await Promise.all([unit.rows.write(), insertRecords(tx, tenantId, unit.records)]);
    return done;
  });
  for (const channel of channels) engine.notify(channel, tenantId);
  return result;
}

/** A transaction. For the engine of a leader it fails once another process leads. */
export function inFencedTransaction<T>(engine: Engine, work: (tx: Tx) => Promise<T>): Promise<T> {
  const { term } = engine;
  return inTransaction(engine.store.db, async (tx) => {
    if (term) await assertLeader(tx, term);
    return work(tx);
  });
}

/** One statement for a use case of one issue, whatever it did to it. */
async function refreshLists(tx: Tx, tenantId: number, { changed, minor }: DirtyIssues): Promise<void> {
  await Promise.all([
    refreshIssueList(tx, tenantId, [...changed], false),
    refreshIssueList(tx, tenantId, [...minor.difference(changed)], true),
  ]);
}

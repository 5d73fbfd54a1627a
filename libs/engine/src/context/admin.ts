import { userInfo } from 'node:os';
import { AppError } from '@pipeline/domain';
import { insertAuditEntry, inTransaction, type OwnedRepo, type Tx } from '@pipeline/store';
import type { Engine, TransactionContext } from './context.ts';

/** The administrator, by the recorded name. Every admin use case is one transaction. */
export interface Admin {
  engine: Engine;
  actor: string;
  reason: string | null;
  /** Kind of the actor in the audit log. Default `operator`. */
  actorType?: 'operator' | 'user';
  /** Checks the right of the actor, in the transaction of each action. @throws AppError. */
  authorize?: (tx: Tx) => Promise<void>;
}

/** The OS user, or its number if it has no name, as in a container that runs under any user. */
export function machineUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** A transaction over data of no single tenant, such as users. */
export const administer = <T>({ engine, authorize }: Admin, work: (tx: Tx) => Promise<T>): Promise<T> =>
  inTransaction(engine.store.db, async (tx) => {
    await authorize?.(tx);
    return work(tx);
  });

/** Records an action without a repo, in its transaction. */
export const audit = (
  tx: Tx,
  { actor, actorType = 'operator', reason }: Admin,
  entry: { action: string; subject: string; details?: Record<string, unknown> },
): Promise<void> => insertAuditEntry(tx, { actorType, actorId: actor, reason, details: {}, ...entry });

/** Records an action on a repo, among the events of that repo. */
export function recordRepoAction(
  unit: TransactionContext,
  { actor, reason }: Admin,
  repo: OwnedRepo,
  entry: { action: string } & Record<string, unknown>,
): void {
  unit.records.pipelineEvents.push({
    repoId: repo.id,
    issueId: null,
    issueNumber: null,
    eventType: 'operator_action',
    agent: actor,
    payload: { ...entry, actorId: actor, reason },
  });
}

export const refuse = (message: string): never => {
  throw new AppError('INVALID_INPUT', message);
};

export const notFound = (message: string): never => {
  throw new AppError('NOT_FOUND', message);
};

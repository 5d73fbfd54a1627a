import { AppError, type ConsistencyFinding, type HostEvent, type State } from '@pipeline/domain';
import type {
  ClaimedTask,
  FailAnswer,
  Failure,
  Heartbeat,
  HeartbeatAnswer,
  IssueAction,
  Progress,
  Report,
  ReportAnswer,
  StoreRepair,
} from '@pipeline/engine';

/** How an executor of the outbox dies. Two of them may be at the same entry when the lead moves. */
export type Death = 'before the write' | 'before the record' | 'never' | 'two at once';

/** One pass of the outbox: how many entries at most, and how the last `dying` of them die. */
export interface Pass {
  count: number;
  death: Death;
  dying: number;
}

/** Where a crash falls: what was asked for is undone, or it is done and nobody is told. */
export type Moment = 'before the commit' | 'after the commit';

/** What a worker, an operator or a host can ask for. A refusal is an AppError. */
export interface Calls {
  /** @returns the worker's id; a name that is known is the same worker, and has lost what it held. */
  register(name: string): Promise<string>;
  claim(workerId: string): Promise<ClaimedTask | null>;
  start(task: ClaimedTask): Promise<unknown>;
  report(task: ClaimedTask, body: Report): Promise<ReportAnswer>;
  fail(task: ClaimedTask, failure: Failure): Promise<FailAnswer>;
  progress(task: ClaimedTask, said: Progress): Promise<unknown>;
  heartbeat(beat: Omit<Heartbeat, 'tenantId'>): Promise<Pick<HeartbeatAnswer, 'cancelTaskIds'>>;
  act(issueNumber: number, action: IssueAction): Promise<unknown>;
  transition(issueNumber: number, target: State): Promise<unknown>;
  acceptText(issueNumber: number): Promise<unknown>;
  retryLetter(id: string): Promise<unknown>;
  resolveLetter(id: string): Promise<unknown>;
  steerProjection(id: number, to: 'retry' | 'discard'): Promise<unknown>;
  drainWorker(id: string, drain: boolean): Promise<unknown>;
  reclaimFromWorker(id: string): Promise<unknown>;
  findings(): Promise<readonly ConsistencyFinding[]>;
  repair(repair: StoreRepair, findingId: string): Promise<unknown>;
}

/** These are refused once they are done. */
const ONCE: ReadonlySet<keyof Calls> = new Set(['transition', 'retryLetter', 'repair']);

/**
 * The same calls, each made again by `retried` where it has to be: it makes the call and, when no answer came, the same
 * call once more. Whoever asks again for what was done is told so, and that is an answer too.
 */
export function callsAskedAgain(calls: Calls, retried: Retried): Calls {
  const entries = Object.entries(calls) as [keyof Calls, (...args: never[]) => Promise<unknown>][];
  const wrapped = entries.map(([name, call]) => [
    name,
    (...args: never[]) =>
      retried(
        () => call(...args),
        () =>
          call(...args).catch((error: unknown) => {
            if (!(ONCE.has(name) && error instanceof AppError)) throw error;
          }),
      ),
  ]);
  return Object.fromEntries(wrapped) as Calls;
}

type Retried = <T>(call: () => Promise<T>, again: () => Promise<T>) => Promise<T>;

/** Everything that is done to the pipeline, by whatever way it goes there. */
export interface Acts extends Calls {
  /** Brings webhooks, in their order, and takes them up. */
  deliver(events: readonly HostEvent[]): Promise<void>;
  poll(): Promise<void>;
  /** One pass of the outbox. @returns how many entries were begun. */
  send(pass: Pass): Promise<number>;
  /** Every loop of upkeep once. */
  upkeep(): Promise<void>;
  /** Whoever is called next dies over it; the caller, who gets no answer, asks again. */
  crash(moment: Moment): void;
}

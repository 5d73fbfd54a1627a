import { AppError, type ConsistencyFinding, type HostEvent, type State } from '@pipeline/domain';
import type {
  ClaimedTask,
  FailAnswer,
  Failure,
  Heartbeat,
  HeartbeatAnswer,
  IssueAction,
  PlanAnswer,
  Progress,
  Report,
  ReportAnswer,
  StoreRepair,
} from '@pipeline/engine';

/** Point at which an executor of the outbox crashes. Two of them may process the same entry when the leader changes. */
export type Death = 'before the write' | 'before the record' | 'never' | 'two at once';

/** One pass of the outbox: maximum number of entries, and how the last `dying` of them crash. */
export interface Pass {
  count: number;
  death: Death;
  dying: number;
}

/** The time of a crash: before the commit, or after it and before the response. */
export type Moment = 'before the commit' | 'after the commit';

/** Requests of a worker, an operator or a host. A refusal is an AppError. */
export interface Calls {
  /** @returns the worker's id; a known name is the same worker, which has lost its claims. */
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
  answerPlan(issueNumber: number, answer: PlanAnswer): Promise<unknown>;
  retryDeadLetter(id: string): Promise<unknown>;
  resolveDeadLetter(id: string): Promise<unknown>;
  steerProjection(id: number, to: 'retry' | 'discard'): Promise<unknown>;
  drainWorker(id: string, drain: boolean): Promise<unknown>;
  reclaimFromWorker(id: string): Promise<unknown>;
  findings(): Promise<readonly ConsistencyFinding[]>;
  repair(repair: StoreRepair, findingId: string): Promise<unknown>;
}

/** These are refused when repeated. */
const ONCE: ReadonlySet<keyof Calls> = new Set(['transition', 'answerPlan', 'retryDeadLetter', 'repair']);

/**
 * The same calls, each repeated by `retried` if needed: it makes the call and, without a response, the same call again.
 * A refusal of the repetition because the first call succeeded is a valid response.
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

/** All actions on the pipeline, through any interface. */
export interface Acts extends Calls {
  /** Delivers webhooks in order, and handles them. */
  deliver(events: readonly HostEvent[]): Promise<void>;
  poll(): Promise<void>;
  /** One pass of the outbox. @returns how many entries were started. */
  send(pass: Pass): Promise<number>;
  /** Runs every upkeep loop once. */
  upkeep(): Promise<void>;
  /** The next called process crashes; its caller gets no response and retries. */
  crash(moment: Moment): void;
}

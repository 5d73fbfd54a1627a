import { sleep, withDeadline } from '@pipeline/runtime';
import type { AgentSession } from '../session/agent-session.ts';
import type { UsageMeter } from '../session/usage.ts';

/** Limits of one run; null = no limit. */
export interface RunLimits {
  maxTurns: number | null;
  budgetUsd: number | null;
  timeMs: number;
}

export type LimitName = 'turns' | 'budget' | 'time';

/** A run was stopped at one of its limits. */
export class LimitReached extends Error {
  readonly limit: LimitName;

  constructor(limit: LimitName, message: string) {
    super(message);
    this.name = 'LimitReached';
    this.limit = limit;
  }
}

/** Watches the limits of a run. `signal` is aborted with a LimitReached, or with the reason of the outer signal. */
export class LimitWatch {
  readonly signal: AbortSignal;
  readonly #limits: RunLimits;
  readonly #reached = new AbortController();
  readonly #over = new AbortController();

  constructor(limits: RunLimits, outer: AbortSignal) {
    this.#limits = limits;
    this.signal = AbortSignal.any([outer, this.#reached.signal]);
    void sleep(limits.timeMs, this.#over.signal).then((whole) => {
      if (whole) this.#stop('time', `the time limit of ${Math.round(limits.timeMs / 1_000)} s was reached`);
    });
  }

  /** Checks turns and cost. */
  check({ turns, costUsd }: UsageMeter): void {
    const { maxTurns, budgetUsd } = this.#limits;
    if (maxTurns !== null && turns > maxTurns) this.#stop('turns', `the limit of ${maxTurns} turns was reached`);
    if (budgetUsd !== null && costUsd !== null && costUsd > budgetUsd)
      this.#stop('budget', `the budget of ${budgetUsd} USD was exceeded: the run cost ${costUsd} USD`);
  }

  /** Ends the timer. */
  close(): void {
    this.#over.abort();
  }

  #stop(limit: LimitName, message: string): void {
    this.#reached.abort(new LimitReached(limit, `the agent was stopped: ${message}`));
  }
}

export interface BoundedPrompt {
  session: AgentSession;
  signal: AbortSignal;
  /** Milliseconds that the agent has to end its turn after a cancel. */
  graceMs: number;
}

type Response = Awaited<ReturnType<AgentSession['prompt']>>;

/**
 * Sends a prompt. When the signal is aborted first, the turn is cancelled and, after the grace time at most, the reason of
 * the signal is thrown; `onCancelled` gets the response of a turn that ended in time.
 */
export async function promptWithin(
  { session, signal, graceMs }: BoundedPrompt,
  text: string,
  meta: Record<string, unknown>,
  onCancelled: (response: Response) => void,
): Promise<Response> {
  signal.throwIfAborted();
  const response = session.prompt(text, meta);
  const settled = new AbortController();
  const aborted = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true, signal: settled.signal }),
  );
  try {
    const first = await Promise.race([response, aborted]);
    if (!signal.aborted && first) return first;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    settled.abort();
  }
  await session.cancel();
  await withDeadline(response, graceMs, 'the cancelled turn').then(onCancelled, () => undefined);
  throw signal.reason;
}

import type { ClaimedTask } from '@pipeline/contract';
import { DEFAULT_OUTCOME, type ErrorClass, OUTCOME_RESULTS, OUTCOMES_OF, type OutcomeName } from '@pipeline/domain';
import { z } from 'zod';
import type { AgentRecord } from './records.ts';

/** sysexits.h EX_TEMPFAIL: the program hit a quota and should be retried later. */
const EXIT_QUOTA = 75;
const MAX_MESSAGE = 20_000;

/** End of a run. */
export type Verdict =
  | { kind: 'outcome'; outcome: OutcomeName; result: Record<string, unknown> }
  | { kind: 'failure'; errorMessage: string; errorClass: ErrorClass; retryAfterMs?: number };

export type VerdictRecord = Extract<AgentRecord, { type: 'outcome' | 'failure' }>;

/** Exit status and output of a program. */
export interface ProgramEnd {
  exitCode: number | null;
  signal: string | null;
  timedOutAfterMs: number | null;
  /** The last printed outcome or failure. */
  printed: VerdictRecord | null;
  /** Set when the last outcome line or a code-map line was invalid. */
  invalid: string | null;
  /** Last lines on stderr. */
  stderr: string;
}

export function failure(errorMessage: string, errorClass: ErrorClass = 'transient'): Verdict {
  return { kind: 'failure', errorMessage: errorMessage.slice(-MAX_MESSAGE), errorClass };
}

/**
 * Maps the end of a program to an outcome: the last printed outcome or failure; otherwise exit code 75 is a quota failure and
 * any other non-zero code a transient failure with the last lines of stderr.
 * @returns null for exit code 0 without an outcome: the default outcome of the task type applies.
 */
export function verdictOfEnd(task: Pick<ClaimedTask, 'taskType'>, end: ProgramEnd): Verdict | null {
  if (end.invalid !== null) return failure(`the output of the program is not valid: ${end.invalid}`);
  if (end.printed) return verdictOfRecord(task, end.printed);
  const said = end.stderr.trim();
  if (end.timedOutAfterMs !== null)
    return failure(`the program was ended after ${end.timedOutAfterMs} ms without a verdict\n${said}`.trim());
  if (end.exitCode === EXIT_QUOTA) return failure(said || 'quota used up (exit code 75)', 'quota');
  if (end.exitCode !== 0)
    return failure(said || (end.signal ? `ended by ${end.signal}` : `ended with exit code ${end.exitCode}`));
  if (DEFAULT_OUTCOME[task.taskType]) return null;
  const names = OUTCOMES_OF[task.taskType].join(', ');
  return failure(
    `a ${task.taskType} task must print an outcome, {"type":"outcome","outcome":…}, with one of: ${names}`,
  );
}

function verdictOfRecord(task: Pick<ClaimedTask, 'taskType'>, record: VerdictRecord): Verdict {
  if (record.type === 'outcome') return checkedOutcome(task, record.outcome, record.result);
  const { errorMessage, errorClass, retryAfterMs } = record;
  return { kind: 'failure', errorMessage, errorClass, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Returns the outcome, or a failure when the outcome is not valid for the task type. */
export function checkedOutcome(
  { taskType }: Pick<ClaimedTask, 'taskType'>,
  outcome: OutcomeName,
  result: unknown,
): Verdict {
  if (!OUTCOMES_OF[taskType].includes(outcome))
    return failure(`a ${taskType} cannot end as "${outcome}"; it can as: ${OUTCOMES_OF[taskType].join(', ')}`);
  const parsed = OUTCOME_RESULTS[outcome].safeParse(result);
  if (parsed.success) return { kind: 'outcome', outcome, result: parsed.data };
  return failure(`the result of "${outcome}" is not valid:\n${z.prettifyError(parsed.error)}`);
}

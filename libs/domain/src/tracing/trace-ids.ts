import { createHash } from 'node:crypto';

export interface TracedIssue {
  tenantId: number;
  issueId: number;
  /** ISO 8601; keeps the issues of two deployments apart in one tracing backend. Milliseconds count, no more. */
  createdAt: string;
}

/**
 * Trace id of an issue: the runs of its agents are spans of this trace. Computed, not stored, so that every process and
 * every log line has it without a read.
 * @returns 32 lower-case hexadecimal digits (W3C Trace Context).
 */
export const traceIdOfIssue = ({ tenantId, issueId, createdAt }: TracedIssue): string =>
  digest(`issue ${tenantId} ${issueId} ${Date.parse(createdAt)}`, 32);

/** Trace id of a task that has no issue, such as a scan of the code map: one trace for all its runs. */
export const traceIdOfTask = (taskId: string): string => digest(`task ${taskId}`, 32);

/** Span id of a run, 16 hexadecimal digits. Equal for a run that is exported twice, so that backends see one span. */
export const spanIdOfRun = (taskId: string, runId: number): string => digest(`run ${taskId} ${runId}`, 16);

/** Span id of a model call of a run. */
export const spanIdOfCall = (taskId: string, runId: number, invocationIndex: number): string =>
  digest(`call ${taskId} ${runId} ${invocationIndex}`, 16);

/** The header value of W3C Trace Context that makes what is done in a run a child of its span. */
export const traceparentOf = (traceId: string, spanId: string): string => `00-${traceId}-${spanId}-01`;

const digest = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits);

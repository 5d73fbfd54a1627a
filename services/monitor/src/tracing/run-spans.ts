import { type Attributes, type HrTime, SpanKind, type SpanStatus, SpanStatusCode } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { spanIdOfCall, spanIdOfRun, traceIdOfIssue, traceIdOfTask } from '@pipeline/domain';
import type { FinishedRun, RunCall } from '@pipeline/store';

const SCOPE = { name: 'pipeline' };

/**
 * Spans of a finished run by the semantic conventions of OpenTelemetry for generative AI: one for the run and one for
 * each of its model calls. A call lasts from its first report to the next one's: workers report no times of their own.
 */
export function spansOf(run: FinishedRun, resource: Resource): ReadableSpan[] {
  const { tenantId, issueId, issueCreatedAt, taskId, runId } = run;
  const traceId =
    issueId === null || issueCreatedAt === null
      ? traceIdOfTask(taskId)
      : traceIdOfIssue({ tenantId, issueId, createdAt: issueCreatedAt });
  const spanId = spanIdOfRun(taskId, runId);
  const ofRun = span({
    context: { traceId, spanId },
    name: `invoke_agent ${agentOf(run)}`,
    kind: SpanKind.INTERNAL,
    from: run.claimedAt,
    to: run.finishedAt,
    attributes: runAttributes(run),
    status: statusOf(run),
    resource,
  });
  const ofCalls = run.calls.map((call, at) =>
    span({
      context: { traceId, spanId: spanIdOfCall(taskId, runId, call.index) },
      parentId: spanId,
      name: `chat ${call.model}`,
      kind: SpanKind.CLIENT,
      from: at === 0 ? run.claimedAt : call.reportedAt,
      to: run.calls[at + 1]?.reportedAt ?? run.finishedAt,
      attributes: callAttributes(call),
      status: { code: SpanStatusCode.UNSET },
      resource,
    }),
  );
  return [ofRun, ...ofCalls];
}

interface SpanFacts {
  context: { traceId: string; spanId: string };
  parentId?: string;
  name: string;
  kind: SpanKind;
  from: string;
  to: string;
  attributes: Attributes;
  status: SpanStatus;
  resource: Resource;
}

function span({ context, parentId, from, to, attributes, ...facts }: SpanFacts): ReadableSpan {
  const begin = Date.parse(from);
  const end = Math.max(begin, Date.parse(to));
  const inTrace = (spanId: string) => ({ traceId: context.traceId, spanId, traceFlags: 1 });
  return {
    ...facts,
    // The exporter would send an undefined value as an empty one.
    attributes: Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined)),
    spanContext: () => inTrace(context.spanId),
    ...(parentId !== undefined && { parentSpanContext: inTrace(parentId) }),
    startTime: hrTime(begin),
    endTime: hrTime(end),
    duration: hrTime(end - begin),
    ended: true,
    instrumentationScope: SCOPE,
    links: [],
    events: [],
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** The agent that the worker reported, or the role of a run without one. */
const agentOf = ({ calls, role }: FinishedRun): string => calls[0]?.agent ?? role;

const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];

const statusOf = ({ errorMessage, errorClass }: FinishedRun): SpanStatus =>
  errorMessage === null && errorClass === null
    ? { code: SpanStatusCode.OK }
    : { code: SpanStatusCode.ERROR, message: errorMessage ?? '' };

function runAttributes(run: FinishedRun): Attributes {
  const costs = run.calls.flatMap(({ costUsd }) => costUsd ?? []);
  const unreported = run.calls.length - costs.length;
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agentOf(run),
    'gen_ai.provider.name': run.calls[0]?.provider,
    'gen_ai.request.model': run.calls[0]?.model,
    'gen_ai.usage.input_tokens': sumOf(run.calls, 'inputTokens'),
    'gen_ai.usage.output_tokens': sumOf(run.calls, 'outputTokens'),
    'error.type': run.errorClass ?? undefined,
    'pipeline.role': run.role,
    'pipeline.repo': run.repo,
    'pipeline.issue.number': run.issueNumber ?? undefined,
    'pipeline.task.id': run.taskId,
    'pipeline.task.type': run.taskType,
    'pipeline.task.attempt': run.attempt,
    'pipeline.run.status': run.status,
    'pipeline.run.outcome': run.outcome ?? undefined,
    'pipeline.worker.id': run.workerId,
    'pipeline.cost_usd': costs.length > 0 ? costs.reduce((sum, cost) => sum + cost, 0) : undefined,
    'pipeline.unreported_costs': unreported > 0 ? unreported : undefined,
  };
}

const sumOf = (calls: readonly RunCall[], key: 'inputTokens' | 'outputTokens'): number | undefined =>
  calls.length > 0 ? calls.reduce((sum, call) => sum + call[key], 0) : undefined;

const callAttributes = (call: RunCall): Attributes => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': call.provider,
  'gen_ai.request.model': call.model,
  'gen_ai.usage.input_tokens': call.inputTokens,
  'gen_ai.usage.output_tokens': call.outputTokens,
  'gen_ai.usage.cache_read.input_tokens': call.cacheReadTokens,
  'gen_ai.usage.cache_creation.input_tokens': call.cacheWriteTokens,
  'gen_ai.response.finish_reasons': call.stopReason === null ? undefined : [call.stopReason],
  'pipeline.turns': call.turns,
  'pipeline.cost_usd': call.costUsd ?? undefined,
});

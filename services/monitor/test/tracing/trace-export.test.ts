import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Invocation } from '@pipeline/domain';
import { explainIssue, fail, report, start } from '@pipeline/engine';
import { createMetrics, type Logger, silentLogger } from '@pipeline/runtime';
import { operatorScope } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { sql } from 'kysely';
import { RunExporter } from '../../src/tracing/run-exporter.ts';
import { traceEndpoint } from '../../src/tracing/trace-endpoint.ts';
import { admit, type Bench, makeBench } from '../support/bench.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { claimWork } from '../workers/agent-work.ts';

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number; doubleValue?: number };
}

/** A span as it goes over the wire (OTLP in JSON). */
interface Sent {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number; message?: string };
}

const database = testDatabase();
const START = Date.parse('2026-03-01T10:00:00.000Z');
let receiver: Receiver;
let bench: Bench;
let warned: string[];
let metrics: ReturnType<typeof createMetrics>;
let exporter: RunExporter;
/** Number of the next issue; each test has its own. */
let number = 0;

const at = (seconds: number) => {
  database.clock.now = new Date(START + seconds * 1_000);
};
const exportNext = () => exporter.exportNext(database.store);
const spans = (): Sent[] =>
  receiver.taken.flatMap(({ body }) =>
    JSON.parse(body).resourceSpans.flatMap((of: { scopeSpans: { spans: Sent[] }[] }) =>
      of.scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
const attributesOf = ({ attributes }: Sent) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
const time = (nanos: string) => (Number(BigInt(nanos) / 1_000_000n) - START) / 1_000;

beforeEach(async () => {
  at(0);
  receiver = await startReceiver();
  receiver.status = 200;
  warned = [];
  const log: Logger = { ...silentLogger, warn: (message) => void warned.push(message) };
  metrics = createMetrics();
  const url = receiver.url.replace('/hook', '/');
  const endpoint = traceEndpoint({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20secret,x-team=shop',
    OTEL_SERVICE_NAME: 'factory',
  });
  if (!endpoint) throw new Error('there is an endpoint');
  exporter = new RunExporter({
    endpoint,
    log,
    registry: metrics.registry,
    now: () => database.clock.now ?? new Date(),
  });
  bench = await makeBench(database.store, 'acme/shop');
  await exportNext();
});
afterEach(async () => {
  await exporter.stop();
  await receiver.close();
  for (const table of ['trace_cursor', 'agent_invocations', 'runs', 'tasks'] as const)
    await database.db.deleteFrom(table).execute();
});

const CALL: Invocation = {
  index: 0,
  model: 'opus',
  provider: 'anthropic',
  turns: 3,
  stopReason: 'completed',
  inputTokens: 1_000,
  outputTokens: 200,
  cacheReadTokens: 50,
  cacheWriteTokens: 10,
  costUsd: 0.25,
};
/** A call of which the agent reports neither tokens nor a cost. */
const SILENT = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: null };
const QUESTION = { outcome: 'needs-clarification', result: { question: 'Which?' } } as const;
const RECORDS = { artefacts: [], findings: [], intelligence: [] };

/** Claims the analysis of an issue, and reports it after 20 seconds. */
async function analyse(invocations: Invocation[] = []) {
  number += 1;
  await admit(bench, number);
  const task = await claimWork(bench, 'w1');
  await start(bench.engine, task);
  database.clock.now = new Date((database.clock.now ?? new Date()).getTime() + 20_000);
  await report(bench.engine, task, { ...QUESTION, ...RECORDS, invocations });
  return task;
}

describe('a finished run', () => {
  test('exports a run as a span with its model calls, in the trace that its task and its issue name', async () => {
    const task = await analyse([
      { ...CALL, agent: 'claude' },
      { ...CALL, ...SILENT, index: 1, model: 'haiku' },
    ]);
    at(60);
    expect(await exportNext()).toBe(false);

    const { headers, path } = receiver.taken[0] ?? {};
    expect(path).toBe('/v1/traces');
    expect(headers).toMatchObject({ 'x-key': 'a secret', 'x-team': 'shop', 'content-type': 'application/json' });
    const [run, first, second] = spans();
    if (!run || !first || !second) throw new Error('three spans were expected');
    expect(task.traceparent).toBe(`00-${run.traceId}-${run.spanId}-01`);
    const scope = operatorScope({ tenant_id: bench.tenantId, id: bench.repo.id });
    const why = await explainIssue(database.store, scope, { slug: 'acme/shop', number });
    expect(why.traceId).toBe(run.traceId);

    expect(run).toMatchObject({ name: 'invoke_agent claude', kind: 1, status: { code: 1 } });
    expect(run.parentSpanId).toBeUndefined();
    expect([time(run.startTimeUnixNano), time(run.endTimeUnixNano)]).toEqual([0, 20]);
    expect(attributesOf(run)).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'claude',
      'gen_ai.request.model': 'opus',
      'gen_ai.usage.input_tokens': 1_000,
      'gen_ai.usage.output_tokens': 200,
      'pipeline.repo': 'acme/shop',
      'pipeline.issue.number': number,
      'pipeline.task.type': 'analyze',
      'pipeline.role': 'analyzer',
      'pipeline.cost_usd': 0.25,
      'pipeline.unreported_costs': 1,
      'pipeline.run.outcome': 'needs-clarification',
    });
    expect(first).toMatchObject({ name: 'chat opus', kind: 3, traceId: run.traceId, parentSpanId: run.spanId });
    expect(attributesOf(first)).toMatchObject({ 'gen_ai.provider.name': 'anthropic', 'pipeline.cost_usd': 0.25 });
    expect(second.name).toBe('chat haiku');
    expect(attributesOf(second)).not.toHaveProperty(['pipeline.cost_usd']);
    expect(JSON.parse(receiver.taken[0]?.body ?? '').resourceSpans[0].resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'factory' },
    });
  });

  test('a failed run is an error with its class and message', async () => {
    number += 1;
    await admit(bench, number);
    const task = await claimWork(bench, 'w1');
    await start(bench.engine, task);
    await fail(bench.engine, task, { errorMessage: 'no disk', errorClass: 'permanent', invocations: [] });
    at(60);
    await exportNext();
    expect(spans()).toMatchObject([{ status: { code: 2, message: 'no disk' } }]);
    expect(attributesOf(spans()[0] as Sent)).toMatchObject({ 'error.type': 'permanent' });
  });

  test('exports a run once, and not before transactions that may still be open have ended', async () => {
    await analyse();
    at(49);
    await exportNext();
    expect(spans()).toEqual([]);
    at(51);
    await exportNext();
    await exportNext();
    expect(spans()).toHaveLength(1);
  });

  test('does not export a run that ended before the export was turned on', async () => {
    await database.db.deleteFrom('trace_cursor').execute();
    await analyse();
    at(60);
    await exportNext();
    at(120);
    await exportNext();
    expect(spans()).toEqual([]);
  });
});

describe('an endpoint that does not accept spans', () => {
  test('gets them all later, in growing pauses, with one warning, and none twice', async () => {
    receiver.status = 401;
    await analyse();
    at(60);
    await exportNext();
    at(64);
    await exportNext();
    expect(receiver.taken).toHaveLength(1);
    at(66);
    await exportNext();
    expect(receiver.taken).toHaveLength(2);
    at(75);
    await exportNext();
    expect(receiver.taken).toHaveLength(2);
    expect(warned).toEqual(['traces are not accepted; runs wait to be exported']);

    receiver.status = 200;
    receiver.taken.length = 0;
    at(76);
    await analyse();
    at(200);
    await exportNext();
    await exportNext();
    expect(spans().map((span) => attributesOf(span)['pipeline.issue.number'])).toEqual([number - 1, number]);
    const text = await metrics.registry.metrics();
    expect(text).toContain('svc_trace_spans_total 2');
    expect(text).toContain('svc_trace_export_failures_total 2');
  });
});

describe('many runs that ended at the same time', () => {
  test('exports runs in batches, without a gap and without a double', async () => {
    await analyse();
    await sql`
        insert into runs (tenant_id, task_id, work_id, repo_id, task_type, attempt, agent, worker_id, claim_token_hash,
          status, claimed_at, finished_at, lease_expires_at)
        select tenant_id, gen_random_uuid(), work_id, repo_id, 'code-map-scan', 0, agent, worker_id, n::text, 'finished',
          claimed_at, finished_at, lease_expires_at
        from runs cross join generate_series(1, 250) n`.execute(database.db);
    at(60);
    expect([await exportNext(), await exportNext(), await exportNext()]).toEqual([true, true, false]);
    expect(receiver.taken).toHaveLength(3);
    expect(new Set(spans().map(({ spanId }) => spanId)).size).toBe(251);
    expect(spans()).toHaveLength(251);
    // Tasks without an issue have a trace each.
    expect(new Set(spans().map(({ traceId }) => traceId)).size).toBe(251);
  });
});

describe('the configuration', () => {
  test.each([
    [{}, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' }, 'http://otel:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://tempo/otlp' }, 'http://tempo/otlp'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://tempo/otlp' },
      'http://tempo/otlp',
    ],
  ])('%j exports to %s', (env, url) => {
    expect(traceEndpoint({ ...env, OTEL_SERVICE_NAME: 'pipeline' })?.url ?? null).toBe(url);
  });

  test.each(['key', 'a b=c', 'key=%zz', 'key=a\nb'])('headers %j are refused without being shown', (headers) => {
    const env = {
      OTEL_SERVICE_NAME: 'p',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x',
      OTEL_EXPORTER_OTLP_HEADERS: headers,
    };
    expect(() => traceEndpoint(env)).toThrow(
      /^OTEL_EXPORTER_OTLP_HEADERS: must be name=value, several separated by commas$/,
    );
  });

  test('a monitor has the loop of the export only with an endpoint', async () => {
    const url = `${receiver.url}/v1/traces`;
    const traced = await pipelineOf(database.url, { traceEndpoint: { url, headers: {}, serviceName: 'p' } });
    await expect(traced.loops.tick('trace-export')).resolves.toBeUndefined();
    const silent = await pipelineOf(database.url);
    await expect(silent.loops.tick('trace-export')).rejects.toThrow();
    await traced.stop();
    await silent.stop();
  });
});

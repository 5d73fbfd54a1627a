import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { STATES } from '@pipeline/domain';
import { createMetrics } from '@pipeline/runtime';
import { testDatabase, until } from '@pipeline/testing';
import manifest from '../../package.json' with { type: 'json' };
import { registerGauges } from '../../src/prometheus/gauges.ts';
import { metricsText } from '../../src/prometheus/metrics-text.ts';
import { addDeadLetter, admit, makeBench } from '../support/bench.ts';
import { pipelineOf } from '../support/pipeline-of.ts';
import { serveApp } from '../support/served-app.ts';

const database = testDatabase();

describe('metrics of the monitor', () => {
  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanups.splice(0).reverse()) await cleanUp();
  });

  const NAMES =
    `svc_up svc_uptime_seconds svc_build_info svc_store_connected svc_leader svc_agent_up svc_agent_response_seconds
  svc_agent_in_flight_issues svc_alerts_active svc_pipeline_issues svc_pipeline_issues_blocked svc_pipeline_issues_paused
  svc_tasks svc_task_oldest_pending_seconds svc_task_oldest_claim_seconds svc_workers svc_worker_utilization_ratio
  svc_projections svc_dead_letters_unresolved svc_consistency_findings svc_tenant_spend_usd svc_tenant_budget_usd
  svc_pipeline_cycle_time_seconds svc_pipeline_success_ratio svc_pipeline_autonomy_ratio svc_vcs_rate_limit_remaining
  svc_sse_clients svc_cost_usd_total svc_unreported_costs_total svc_tokens_total svc_state_transitions_total svc_tasks_finished_total
  svc_task_retries_total svc_projection_attempts_total svc_auto_unblocks_total svc_http_requests_total
  svc_task_queue_wait_seconds svc_task_run_seconds svc_projection_lag_seconds svc_http_request_seconds
  svc_inbox_lag_seconds svc_inbox_deliveries`.split(/\s+/);

  async function monitor() {
    const metrics = createMetrics({ processMetrics: true });
    const pipeline = await pipelineOf(database.url, { metrics });
    cleanups.push(pipeline.stop);
    await pipeline.storeWatch.check();
    const served = await serveApp({ pipeline, registry: metrics.registry });
    cleanups.push(served.close);
    return { pipeline, text: async () => (await served.call('GET', '/prometheus')).text };
  }

  describe('/prometheus', () => {
    test('the response has every metric, needs no authentication, and names no issue', async () => {
      const bench = await makeBench(database.store, 'acme/shop');
      await admit(bench, 4711);
      await addDeadLetter(bench, 4712);
      const { pipeline, text } = await monitor();
      pipeline.start();
      await until('the metrics are read', async () => /svc_pipeline_issues\{.*\} 2/.test(await text()));
      const all = await text();
      expect(NAMES.filter((name) => !all.includes(`# TYPE ${name} `))).toEqual([]);
      expect(all).toContain(`svc_build_info{version="${manifest.version}"} 1`);
      expect(all).toContain('svc_pipeline_issues{repo="acme/shop",state="analyzing"} 2');
      expect(all).toContain('svc_pipeline_issues{repo="acme/shop",state="done"} 0');
      expect(all.match(/^svc_pipeline_issues\{.*\} \d+$/gm)).toHaveLength(STATES.length);
      expect(all).toContain('svc_pipeline_issues_paused{repo="acme/shop"} 0');
      expect(all).toContain('svc_pipeline_issues_blocked{repo="acme/shop"} 0');
      // As a label or a part of one; a figure may contain the digits.
      expect(all).not.toMatch(/="[^"\n]*471[12][^"\n]*"/);
      await until('tasks are read', async () =>
        (await text()).includes('svc_tasks{repo="acme/shop",task_type="analyze",status="pending"} 2'),
      );
    });

    test('promtool accepts the text', async () => {
      const found = spawnSync('promtool', ['--version']);
      if (found.error) {
        process.stdout.write('promtool is missing (Debian: apt-get install prometheus): the text is not checked\n');
        return;
      }
      const { pipeline, text } = await monitor();
      pipeline.start();
      await until('the metrics are read', async () => (await text()).includes('svc_state_transitions_total{'));
      const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await text() });
      expect([status, String(stdout), String(stderr)]).toEqual([0, '', '']);
    });

    test('calls figures with quantiles a summary, as checkers want it', async () => {
      const { registry } = createMetrics();
      const read = () => [[{ quantile: '0.5' }, 3] as const];
      registerGauges(registry, [
        { name: 'svc_time_seconds', help: 'A time.', labels: ['quantile'], type: 'summary', read },
      ]);
      const text = await registry.metrics();
      expect(text).toContain('# TYPE svc_time_seconds summary\nsvc_time_seconds{quantile="0.5"} 3');
    });

    test('serves metrics without a store', async () => {
      const served = await serveApp();
      cleanups.push(served.close);
      const answer = await served.call('GET', '/prometheus');
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(answer.text).toContain('svc_up 1');
    });

    test('compresses the response for a server that accepts it, as Prometheus does', async () => {
      const served = await serveApp({ registry: createMetrics({ processMetrics: true }).registry });
      cleanups.push(served.close);
      const answer = await fetch(`${served.url}/prometheus`, { headers: { 'accept-encoding': 'gzip' } });
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      expect(answer.headers.get('vary')).toBe('accept-encoding');
      expect(Number(answer.headers.get('content-length'))).toBeLessThan((await answer.text()).length / 2);
    });
  });

  afterAll(() => database.clear());
});

describe('the text of metrics', () => {
  test('one text of the metrics serves all requests for as long as it is kept, and not longer', async () => {
    let made = 0;
    let ms = 5;
    const metrics = metricsText({ metrics: async () => `${++made}` }, 1_000, () => ms);
    const text = async () => (await metrics()).text;
    expect(await Promise.all([text(), text()])).toEqual(['1', '1']);
    ms = 1_004;
    expect(await text()).toBe('1');
    ms = 1_005;
    expect(await text()).toBe('2');
  });

  test('a text that could not be made serves no other request', async () => {
    let made = 0;
    const metrics = async () => {
      made += 1;
      if (made === 1) throw new Error('broken gauge');
      return `${made}`;
    };
    const body = metricsText({ metrics }, 1_000, () => 0);
    await expect(body()).rejects.toThrow('broken gauge');
    expect((await body()).text).toBe('2');
  });

  afterAll(() => database.clear());
});

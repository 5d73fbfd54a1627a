import { sleep } from '@pipeline/runtime';
import pg from 'pg';
import { Pacer } from '../../measure/pace.ts';
import { StreamLoad } from '../../measure/stream-flow.ts';
import { stampedTransition } from '../../measure/stream-server.ts';
import { startCrowd } from '../../measure/subscribers/crowd.ts';
import type { Seen } from '../../measure/subscribers/tally.ts';
import type { Bench, Case, Row } from '../../runner/model.ts';
import { openStreamMonitors } from '../../services/stream-monitor.ts';

const SUBSCRIBERS = 100;
const PER_SECOND = 100;
const CHANNEL = 'bench_events';

/**
 * Goal 11: from just before the statement that writes an event to its arrival at each of 100 subscribers, 100 events a
 * second. Ours: a row in the outbox, committed, then a notification; the built monitor numbers it, reads it and writes it
 * to all. Its anchor: a row and a NOTIFY with the whole event in one transaction, one listener, nothing in between.
 * Checked: every subscriber gets every event once, in order.
 */
export const latencyRow: Row = {
  goal: 11,
  title: 'stream: commit to subscriber',
  async open(bench) {
    const monitors = await openStreamMonitors(bench, 'bench_stream_latency');
    const server = await monitors.start('monitor-latency');
    bench.stack.add('monitor', () => server.stop());
    const load = new StreamLoad(server);
    bench.stack.add('crowd', () => load.crowd.stop());
    await load.crowd.resize(SUBSCRIBERS);
    await load.warmUp(100);
    const notify = await openNotify(bench);
    const seconds = bench.quick ? 1 : 3;
    const ours = async () => (await load.flow(SUBSCRIBERS, seconds)).seen;
    const caseOf = (name: string, value: (seen: Seen) => number, bound: number): Case => {
      const of = (measure: () => Promise<Seen>) => async () => ({ value: value(await measure()), cpu: null });
      return {
        title: `stream: statement to subscriber, ${name}`,
        unit: 'ms',
        ours: { name: 'ours', sample: of(ours) },
        anchors: [
          { contender: { name: 'insert + NOTIFY', sample: of(() => notify(seconds)) }, bound: { atMost: bound } },
        ],
      };
    };
    return { cases: [caseOf('p50', ({ p50Ms }) => p50Ms, 2), caseOf('p99', ({ p99Ms }) => p99Ms, 3)] };
  },
};

async function openNotify(bench: Bench): Promise<(seconds: number) => Promise<Seen>> {
  const url = await bench.server.emptyDatabase('bench_notify');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  bench.stack.add('notifier', () => client.end());
  await client.query('create table events (id bigint generated always as identity primary key, data jsonb not null)');
  const crowd = startCrowd(url);
  bench.stack.add('listener', () => crowd.stop());
  await crowd.listen(url, CHANNEL);
  const text = `with event as (insert into events (data) values ($2) returning data)
    select pg_notify($1, data::text) from event`;
  const pacer = new Pacer(async (event) => {
    await client.query({ name: 'notify', text, values: [CHANNEL, stampedTransition(event)] });
  }, PER_SECOND);
  return async (seconds) => {
    await crowd.begin();
    const over = new AbortController();
    const publishing = pacer.run(over.signal);
    await sleep(seconds * 1_000);
    over.abort();
    return crowd.settle(await publishing);
  };
}

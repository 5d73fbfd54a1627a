import { createHmac } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type Settings } from '@pipeline/domain';
import { type Engine, Leader, readDigest, writeDailyDigest } from '@pipeline/engine';
import { createMetrics, type Logger, silentLogger } from '@pipeline/runtime';
import type { Notifications, Store } from '@pipeline/store';
import { until } from '@pipeline/testing';
import { sql } from 'kysely';
import { AlertDeliverer } from '../../src/alerts/deliverer.ts';
import { createPipeline, type Pipeline } from '../../src/process/pipeline.ts';
import { admit, engineOn, makeBench } from '../support/bench.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { configOf } from '../support/served-app.ts';
import { database } from './database.ts';

describe('the daily digest', () => {
  const SECRET = 'the secret of the hook';
  const HOUR = 3_600;

  let receiver: Receiver;
  let notifications: Notifications;
  let leader: Leader;
  let channels: Settings['alertChannels'];
  let logged: string[];
  const running: Pipeline[] = [];

  /** Holds the clock of the store and of the sender. */
  const at = (time: string): void => {
    database.clock.now = new Date(time);
  };
  const later = (seconds: number): void => {
    database.clock.now = new Date((database.clock.now?.getTime() ?? 0) + seconds * 1_000);
  };

  const note = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note };

  const engineAt = (store: Store): Engine => ({
    ...engineOn(store),
    settings: () => ({ ...DEFAULT_SETTINGS, alertChannels: channels }),
  });

  /** A round of a monitor that has just started: nothing is kept in memory between two. */
  async function round(store: Store = database.store): Promise<void> {
    const engine = engineAt(store);
    await writeDailyDigest(engine);
    const variables = { HOOK_SECRET: SECRET, SLACK_URL: `${receiver.url}/slack` };
    const now = () => database.clock.now ?? new Date();
    await new AlertDeliverer({ engine, leader, variables, log, now, timeoutMs: 200 }).tick();
  }

  const bodies = () => receiver.taken.map(({ body }) => JSON.parse(body));
  const dates = () => bodies().map(({ digest }) => digest.date);

  beforeEach(async () => {
    logged = [];
    receiver = await startReceiver();
    notifications = await connectedDoorbell(database.url);
    leader = new Leader(notifications);
    await sql`delete from alert_deliveries`.execute(database.db);
    channels = [{ type: 'webhook', url: receiver.url, secretEnv: 'HOOK_SECRET' }];
    at('2026-03-01T00:00:05Z');
  });
  afterEach(async () => {
    for (const pipeline of running.splice(0)) await pipeline.stop();
    await notifications.close();
    await receiver.close();
  });

  describe('the digest of a day', () => {
    test('the signed message has the content of /api/digest', async () => {
      const bench = await makeBench(database.store, 'acme/shop');
      await admit(bench, 7);
      await round();
      const [taken] = receiver.taken;
      expect(JSON.parse(taken?.body ?? '')).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        version: 1,
        type: 'digest.daily',
        createdAt: '2026-03-01T00:00:05.000Z',
        digest: await readDigest(database.store),
        links: { dashboard: null, issue: null },
      });
      expect(bodies()[0].digest).toMatchObject({ date: '2026-03-01', pipelineByState: { 'analyzing:acme/shop': 1 } });
      expect(taken?.headers).toMatchObject({ 'x-svc-event': 'digest.daily', 'x-svc-delivery': bodies()[0].id });
      const signed = `${taken?.headers['x-svc-timestamp']}.${taken?.body}`;
      const signature = createHmac('sha256', SECRET).update(signed).digest('hex');
      expect(taken?.headers['x-svc-signature']).toBe(`sha256=${signature}`);
    });

    test('sends the digest once, whatever rounds and restarts follow, and again the next day', async () => {
      for (let hour = 0; hour < 24; hour += 1) {
        await round();
        later(HOUR - 1);
      }
      expect(dates()).toEqual(['2026-03-01']);
      at('2026-03-02T00:00:00Z');
      await round();
      expect(dates()).toEqual(['2026-03-01', '2026-03-02']);
    });

    test('sends no digest to a channel that does not want it', async () => {
      channels = channels.map((channel) => ({ ...channel, digest: false }));
      await round();
      expect(dates()).toEqual([]);
      channels = [...channels, { type: 'slack', urlEnv: 'SLACK_URL' }];
      await round();
      expect(receiver.taken).toHaveLength(1);
      expect(receiver.taken[0]?.path).toBe('/hook/slack');
    });

    test('many monitors that all act as leader send the digest once', async () => {
      const stores = [1, 2, 3, 4].map((n) =>
        database.open({ applicationName: `monitor-${n}`, clock: () => new Date('2026-03-01T00:00:05Z') }),
      );
      await Promise.all(stores.map((store) => writeDailyDigest(engineAt(store))));
      await Promise.all(stores.map((store) => store.close()));
      await round();
      expect(dates()).toEqual(['2026-03-01']);
    });

    test('retries the digest as it was written until a channel accepts it', async () => {
      receiver.status = 503;
      await round();
      const port = new URL(receiver.url).port;
      await receiver.close();
      later(10);
      await round();
      receiver = await startReceiver(Number(port));
      later(60);
      await round();
      expect(bodies()).toMatchObject([{ createdAt: '2026-03-01T00:00:05.000Z', digest: { date: '2026-03-01' } }]);
      expect(logged.filter((line) => line.startsWith('a notification was not delivered'))).toHaveLength(2);
      await round();
      expect(bodies()).toHaveLength(1);
    });

    test('sends the digest of a day that began without a monitor when one is back; of a whole day without, never', async () => {
      await round();
      at('2026-03-02T17:30:00Z');
      await round();
      at('2026-03-05T09:00:00Z');
      await round();
      await round();
      expect(dates()).toEqual(['2026-03-01', '2026-03-02', '2026-03-05']);
    });

    test('goes to each channel once; one that is added gets it at once, and nothing is stored where there is none', async () => {
      const [hook] = channels;
      channels = [];
      await round();
      expect(await database.db.selectFrom('alert_deliveries').select('id').execute()).toEqual([]);
      channels = hook ? [hook, hook] : [];
      await round();
      channels = [...channels, { type: 'slack', urlEnv: 'SLACK_URL' }];
      await round();
      await round();
      expect(receiver.taken.map(({ path }) => path)).toEqual(['/hook', '/hook/slack']);
    });
  });

  test('Slack gets one line with what stands out, and the log a line of its own', async () => {
    channels = [{ type: 'slack', urlEnv: 'SLACK_URL' }, { type: 'log' }];
    const bench = await makeBench(database.store, 'acme/shop');
    const issueId = await admit(bench, 8);
    await sql`
    insert into runs (tenant_id, task_id, work_id, repo_id, issue_id, issue_number, task_type, attempt, agent, worker_id,
      claim_token_hash, status, claimed_at, finished_at, lease_expires_at, error_message, error_fingerprint)
    select ${bench.tenantId}::bigint, gen_random_uuid(), gen_random_uuid(), ${bench.repo.id}::bigint, ${issueId}::bigint, 8,
      'analyze', 0, 'analyzer', 'w', 'slack/' || n, 'failed', svc_now() - interval '1 hour', svc_now(), svc_now(),
      'a <b> & c is' || chr(10) || 'broken', 'a1b2c3d4e5f60718'
    from generate_series(1, 3) n`.execute(database.store.db);
    await round();
    const { text, blocks } = bodies()[0];
    expect(text).toMatch(
      /^:bar_chart: 2026-03-01: \d+ issues in progress, 0 blocked, 3 failed runs, nothing spent, 0 KPIs regressed$/,
    );
    expect(blocks).toEqual([
      { type: 'section', text: { type: 'mrkdwn', text } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: '3 × a &lt;b&gt; &amp; c is broken' }] },
    ]);
    expect(logged).toEqual([
      expect.stringMatching(/^digest\.daily: 2026-03-01: .*"about":\["3 × a <b> & c is broken"\]/),
    ]);
  });

  test('two whole monitors send it once between them', async () => {
    database.clock.now = null;
    const file = join(await mkdtemp(join(tmpdir(), 'digest-')), 'pipeline.yaml');
    await writeFile(
      file,
      `repos: []\nalertChannels:\n  - {type: webhook, url: '${receiver.url}', secretEnv: HOOK_SECRET}\n`,
    );
    const start = async (instance: string) => {
      const pipeline = createPipeline({
        databaseUrl: database.url,
        directUrl: database.url,
        poolSize: 4,
        hosts: [],
        config: await configOf(file),
        instance,
        variables: { HOOK_SECRET: SECRET },
        dockerHost: 'unix:///nowhere.sock',
        log: silentLogger,
        metrics: createMetrics(),
        now: () => new Date(),
      });
      running.push(pipeline);
      await pipeline.storeWatch.check();
      pipeline.start();
    };
    // The old issues of other tests raise alerts on the same channel.
    const digests = () => bodies().filter(({ type }) => type === 'digest.daily');
    await Promise.all(['one', 'two'].map(start));
    // A loop whose session is not there yet comes again a minute later: it is woken when one is.
    await until('one may lead', async () => {
      const locks = await sql`
      select from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and d.datname = current_database()`.execute(database.db);
      return locks.rows.length > 0;
    });
    const wake = () => running.forEach(({ loops }) => void loops.wakeAll());
    wake();
    await until('the digest arrives', () => digests().length > 0);
    wake();
    await until('it is settled', async () => {
      const { rows } = await sql<{ status: string }>`
      select status from alert_deliveries where type = 'digest.daily'`.execute(database.db);
      return rows.length === 1 && rows[0]?.status === 'delivered';
    });
    expect(digests()).toHaveLength(1);
  });

  afterAll(() => database.clear());
});

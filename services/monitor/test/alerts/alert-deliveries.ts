import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, type Settings } from '@pipeline/domain';
import { type Engine, inTenant, Leader, raiseAlert, resolveAlert } from '@pipeline/engine';
import { type Logger, silentLogger } from '@pipeline/runtime';
import type { Notifications } from '@pipeline/store';
import { AlertDeliverer } from '../../src/alerts/deliverer.ts';
import { OutageWatch } from '../../src/alerts/outage.ts';
import { admit, engineOn, makeBench } from '../support/bench.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { connectedDoorbell } from '../support/sandbox-world.ts';
import { database } from './database.ts';

describe('deliveries of alerts', () => {
  const START = Date.parse('2026-03-01T00:00:00Z');
  const SECRET = 'a secret that must not be sent';
  const MINUTE = 60;
  const HOUR = 3_600;

  let receiver: Receiver;
  let notifications: Notifications;
  let leader: Leader;
  let logged: string[];
  let tenantId: number;
  let channels: Settings['alertChannels'];
  let alerts: Settings['alerts'];
  let time = START;

  const at = (seconds: number): void => {
    time = START + seconds * 1_000;
    database.clock.now = new Date(time);
  };

  const note = (message: string, fields?: object) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Logger = { ...silentLogger, info: note, warn: note, error: note };

  const engine = (): Engine => {
    const made = engineOn(database.store);
    return { ...made, settings: () => ({ ...DEFAULT_SETTINGS, alertChannels: channels, alerts }) };
  };
  const parts = () => ({
    engine: engine(),
    variables: { HOOK_SECRET: SECRET, SLACK_URL: `${receiver.url}/slack?token=${SECRET}` },
    log,
    now: () => new Date(time),
    timeoutMs: 200,
  });
  /** A round of a monitor that has just started: nothing is kept in memory between two. */
  const round = () => new AlertDeliverer({ ...parts(), leader }).tick();

  const silent = {
    severity: 'warning' as const,
    detector: 'queue_age' as const,
    fingerprint: 'queue_age:1',
    message: '3 tasks <wait>',
    repo: 'acme/alerts',
  };
  const raise = (over: object = {}) => inTenant(engine(), tenantId, (unit) => raiseAlert(unit, { ...silent, ...over }));
  const resolve = (fingerprint = silent.fingerprint) =>
    inTenant(engine(), tenantId, (unit) => resolveAlert(unit, fingerprint));
  const sentTypes = () => receiver.taken.map(({ body }) => JSON.parse(body).type);
  const rows = () =>
    database.db.selectFrom('alert_deliveries').select(['type', 'status', 'attempts', 'error']).orderBy('id').execute();

  beforeEach(async () => {
    logged = [];
    receiver = await startReceiver();
    notifications = await connectedDoorbell(database.url);
    leader = new Leader(notifications);
    await database.db.deleteFrom('alert_deliveries').execute();
    await database.db.deleteFrom('alerts').execute();
    at(0);
    ({ tenantId } = await makeBench(database.store, 'acme/alerts'));
    channels = [{ type: 'webhook', url: receiver.url, secretEnv: 'HOOK_SECRET' }];
    alerts = { ...DEFAULT_SETTINGS.alerts, dashboardUrl: 'https://monitor.example.org' };
  });
  afterEach(async () => {
    await notifications.close();
    await receiver.close();
  });

  describe('a webhook', () => {
    test('gets the alert with its signature, its time and the links', async () => {
      const bench = await makeBench(database.store, 'acme/alerts');
      await admit(bench, 7);
      await raise({ issueNumber: 7, value: 90, threshold: 60 });
      await round();
      const [{ headers, body } = { headers: {} as IncomingHttpHeaders, body: '' }] = receiver.taken;
      expect(JSON.parse(body)).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        version: 1,
        type: 'alert.raised',
        createdAt: '2026-03-01T00:00:00.000Z',
        alert: {
          id: expect.any(String),
          ...silent,
          issueNumber: 7,
          workerId: null,
          value: 90,
          threshold: 60,
          firstSeenAt: '2026-03-01T00:00:00.000Z',
          lastSeenAt: '2026-03-01T00:00:00.000Z',
          count: 1,
          resolved: false,
          resolvedAt: null,
        },
        links: { dashboard: 'https://monitor.example.org', issue: 'http://127.0.0.1/7' },
      });
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'x-svc-event': 'alert.raised',
        'x-svc-delivery': JSON.parse(body).id,
        'x-svc-timestamp': String(START / 1_000),
      });
      const expected = createHmac('sha256', SECRET).update(`${headers['x-svc-timestamp']}.${body}`).digest('hex');
      const given = String(headers['x-svc-signature']);
      expect(timingSafeEqual(Buffer.from(given), Buffer.from(`sha256=${expected}`))).toBe(true);
      await round();
      expect(sentTypes()).toEqual(['alert.raised']);
      expect(await rows()).toEqual([{ type: 'alert.raised', status: 'delivered', attempts: 1, error: null }]);
    });

    test('a webhook that fails is retried five times, later and later, by whatever monitor is there', async () => {
      receiver.status = 503;
      await raise();
      let waited = 0;
      for (const wait of [0, 10, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR]) {
        if (wait > 0) {
          at(waited + wait - 1);
          const before = receiver.taken.length;
          await round();
          expect(receiver.taken).toHaveLength(before);
        }
        waited += wait;
        at(waited);
        await round();
      }
      at(waited + 24 * HOUR);
      await round();
      expect(receiver.taken).toHaveLength(6);
      expect(new Set(receiver.taken.map(({ headers }) => headers['x-svc-delivery'])).size).toBe(1);
      expect(await rows()).toEqual([{ type: 'alert.raised', status: 'failed', attempts: 6, error: 'answers 503' }]);
    });

    test('does not follow a redirect', async () => {
      receiver.status = 302;
      await raise();
      await round();
      expect(receiver.taken.map(({ path }) => path)).toEqual(['/hook']);
      expect((await rows())[0]).toMatchObject({ status: 'pending', error: 'answers 302' });
    });

    test('a webhook that does not answer delays no other, and one that is gone is reported without its address', async () => {
      receiver.status = 0;
      await raise();
      await round();
      expect((await rows())[0]).toMatchObject({ error: 'does not answer within 200 ms' });
      await receiver.close();
      at(10);
      await round();
      expect((await rows())[0]).toMatchObject({ error: 'cannot be reached: ECONNREFUSED', attempts: 2 });
    });

    test('reports a webhook whose variable is not set; one that left the configuration gets nothing more', async () => {
      channels = [{ type: 'webhook', url: receiver.url, secretEnv: 'NOT_SET' }];
      await raise();
      await round();
      expect((await rows())[0]).toMatchObject({ error: 'the variable NOT_SET is not set' });
      channels = [];
      at(10);
      await round();
      expect((await rows())[0]).toMatchObject({ status: 'dropped' });
      expect(receiver.taken).toEqual([]);
    });
  });

  describe('what is sent', () => {
    test('sends the beginning of an episode and its end, each once', async () => {
      await raise();
      at(30);
      await raise();
      await round();
      await resolve();
      await resolve();
      await round();
      expect(sentTypes()).toEqual(['alert.raised', 'alert.resolved']);
      expect(JSON.parse(receiver.taken[1]?.body ?? '').alert).toMatchObject({
        resolved: true,
        resolvedAt: '2026-03-01T00:00:30.000Z',
      });
    });

    test('sends nothing when the episode ended before its first message', async () => {
      await raise();
      await resolve();
      await round();
      expect(sentTypes()).toEqual([]);
      expect(await rows()).toMatchObject([{ status: 'dropped', attempts: 0 }]);
    });

    test('sends the end also where an attempt may have arrived without an answer', async () => {
      receiver.status = 0;
      await raise();
      await round();
      receiver.status = 204;
      await resolve();
      await round();
      expect(sentTypes()).toEqual(['alert.raised', 'alert.resolved']);
    });

    test('sends one message in four hours of an alert that comes and goes; one that stays is reported when they are over', async () => {
      await raise();
      await round();
      for (let n = 1; n <= 20; n += 1) {
        at(n * MINUTE);
        await resolve();
        await round();
        await raise();
        await round();
      }
      expect(sentTypes()).toEqual(['alert.raised', 'alert.resolved']);
      at(4 * HOUR - 1);
      await round();
      expect(sentTypes()).toHaveLength(2);
      at(4 * HOUR);
      await round();
      expect(sentTypes()).toEqual(['alert.raised', 'alert.resolved', 'alert.raised']);
    });

    test('sends one message for each of two alerts', async () => {
      await raise();
      await raise({ fingerprint: 'queue_age:2' });
      await round();
      expect(sentTypes()).toEqual(['alert.raised', 'alert.raised']);
    });

    test('sends one message of a budget for each threshold and day, and for an issue one ever', async () => {
      const day = { detector: 'budget_threshold', fingerprint: 'budget:day:80' };
      const issue = { detector: 'budget_threshold', fingerprint: 'budget:issue:5:80', issueNumber: 5 };
      for (const seconds of [0, HOUR, 25 * HOUR]) {
        at(seconds);
        for (const alert of [day, issue]) {
          await raise(alert);
          await resolve(alert.fingerprint);
        }
        await round();
      }
      await raise({ ...day, fingerprint: 'budget:day:90' });
      await round();
      expect(sentTypes()).toEqual(Array(4).fill('budget.threshold'));
      const fingerprints = receiver.taken.map(({ body }) => JSON.parse(body).alert.fingerprint).sort();
      expect(fingerprints).toEqual(['budget:day:80', 'budget:day:80', 'budget:day:90', 'budget:issue:5:80']);
    });

    test('one monitor sends a message, however many there are', async () => {
      const second = await connectedDoorbell(database.url);
      await raise();
      const both = [notifications, second].map((bell) => new AlertDeliverer({ ...parts(), leader: new Leader(bell) }));
      await Promise.all(both.map((deliverer) => deliverer.tick()));
      await second.close();
      expect(sentTypes()).toEqual(['alert.raised']);
    });

    test('sends a message once also where two monitors act as leader', async () => {
      await raise();
      const both = [1, 2].map(() => new AlertDeliverer({ ...parts(), leader: new Leader(notifications) }));
      await Promise.all(both.map((deliverer) => deliverer.tick()));
      expect(sentTypes()).toEqual(['alert.raised']);
    });
  });

  test('Slack gets one line with its context, and the log a line of its own', async () => {
    channels = [{ type: 'slack', urlEnv: 'SLACK_URL' }, { type: 'log' }];
    await raise({ issueNumber: 7 });
    at(90 * MINUTE);
    await round();
    expect(receiver.taken.map(({ path }) => path)).toEqual([`/hook/slack?token=${SECRET.replaceAll(' ', '%20')}`]);
    const text = ':warning: 3 tasks &lt;wait&gt;';
    expect(JSON.parse(receiver.taken[0]?.body ?? '')).toMatchObject({
      text,
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text } },
        {
          type: 'context',
          elements: [{ text: expect.stringContaining('acme/alerts · ') }],
        },
      ],
    });
    expect(receiver.taken[0]?.body).toContain('since 1 h · queue_age · <https://monitor.example.org|dashboard>');
    expect(logged).toEqual([expect.stringContaining('alert.raised: 3 tasks <wait>')]);
  });

  test('no secret is logged or kept, whatever goes wrong', async () => {
    channels = [...channels, { type: 'slack', urlEnv: 'SLACK_URL' }];
    receiver.status = 500;
    await raise();
    await round();
    await receiver.close();
    at(10);
    await round();
    const kept = JSON.stringify(await database.db.selectFrom('alert_deliveries').selectAll().execute());
    expect(logged.length).toBeGreaterThan(0);
    expect(`${logged.join()}${kept}`).not.toMatch(/a(?: |%20)secret/);
  });

  describe('a store that is away', () => {
    test('an outage is reported from memory, once, after its time, and so is its end; then it is recorded', async () => {
      const storeWatch = { isConnected: false, state: 'unreachable' };
      const watch = new OutageWatch({ ...parts(), storeWatch, instance: 'one:8090' });
      for (const seconds of [0, 59]) {
        at(seconds);
        await watch.tick();
      }
      expect(sentTypes()).toEqual([]);
      receiver.status = 500;
      at(60);
      await watch.tick();
      receiver.status = 204;
      at(65);
      await watch.tick();
      await watch.tick();
      expect(sentTypes()).toEqual(['alert.raised', 'alert.raised']);
      storeWatch.isConnected = true;
      at(120);
      await watch.tick();
      await watch.tick();
      expect(sentTypes()).toEqual(['alert.raised', 'alert.raised', 'alert.resolved']);
      const rows = database.db.selectFrom('alerts').select(['detector', 'severity', 'fingerprint', 'resolved_at']);
      expect(await rows.execute()).toEqual([
        {
          detector: 'store_unavailable',
          severity: 'critical',
          fingerprint: 'store_unavailable:one:8090',
          resolved_at: '2026-03-01T00:02:00.000Z',
        },
      ]);
    });

    test('a short outage is not reported', async () => {
      const storeWatch = { isConnected: false, state: 'unreachable' };
      const watch = new OutageWatch({ ...parts(), storeWatch, instance: 'one:8090' });
      await watch.tick();
      storeWatch.isConnected = true;
      at(30);
      await watch.tick();
      expect(await database.db.selectFrom('alerts').select('id').execute()).toEqual([]);
    });
  });

  afterAll(() => database.clear());
});

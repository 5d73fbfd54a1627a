import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEPLOYMENT } from '@pipeline/domain';
import { inTenant, raiseAlert, resolveAlert } from '@pipeline/engine';
import { deleteOldAlerts } from '@pipeline/store';
import { testDatabase } from '@pipeline/testing';
import { type Bench, makeBench } from '../harness.ts';

const database = testDatabase();
const START = Date.parse('2026-03-01T00:00:00Z');
let bench: Bench;
let round = 0;

beforeEach(async () => {
  round += 1;
  at(0);
  bench = await makeBench(database.store, { slug: `alerts-${round}/shop` });
});

const at = (seconds: number) => {
  database.clock.now = new Date(START + seconds * 1_000);
};
const iso = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
const silent = {
  severity: 'warning' as const,
  detector: 'agent_unreachable' as const,
  fingerprint: 'agent_unreachable:developer',
  message: 'developer does not answer',
};
const raise = (over: object = {}, tenantId = bench.tenantId) =>
  inTenant(bench.engine, tenantId, (unit) => raiseAlert(unit, { ...silent, ...over }));
const resolve = (tenantId = bench.tenantId) =>
  inTenant(bench.engine, tenantId, (unit) => resolveAlert(unit, silent.fingerprint));
const rows = (tenantId = bench.tenantId) =>
  database.db.selectFrom('alerts').selectAll().where('tenant_id', '=', tenantId).execute();
const published = async (tenantId = bench.tenantId) => {
  const events = database.db.selectFrom('stream_outbox').select('data').where('event_type', '=', 'alert');
  return (await events.where('tenant_id', '=', tenantId).orderBy('id').execute()).map(({ data }) => data);
};

describe('an alert', () => {
  test('raised again is the same row, counted and seen later, with one event', async () => {
    expect(await raise({ repo: 'acme/shop', issueNumber: 7, workerId: 'w', value: 3.5, threshold: 2 })).toBe(true);
    at(60);
    expect(await raise({ severity: 'critical', message: 'still silent', value: 4 })).toBe(false);
    expect(await rows()).toEqual([
      expect.objectContaining({
        severity: 'critical',
        message: 'still silent',
        value: 4,
        threshold: null,
        first_seen_at: iso(0),
        last_seen_at: iso(60),
        count: 2,
        resolved_at: null,
      }),
    ]);
    const { severity, message, detector } = silent;
    expect(await published()).toEqual([{ severity, message, detector, resolved: false }]);
    expect(bench.bells).toContain('svc_stream');
  });

  test('resolves an alert once; raised after that it is a new episode of the same row', async () => {
    await raise();
    const [before] = await rows();
    at(60);
    expect(await resolve()).toBe(true);
    expect(await resolve()).toBe(false);
    at(120);
    expect(await raise()).toBe(true);
    expect(await rows()).toEqual([{ ...before, first_seen_at: iso(120), last_seen_at: iso(120) }]);
    expect((await published()).map((data) => (data as { resolved: boolean }).resolved)).toEqual([false, true, false]);
  });

  test('each tenant has its own alert', async () => {
    await raise();
    const other = await makeBench(database.store, { slug: `alerts-${round}-other/shop` });
    expect(await raise({}, other.tenantId)).toBe(true);
    expect(await resolve(other.tenantId)).toBe(true);
    expect(await rows()).toEqual([expect.objectContaining({ resolved_at: null })]);
  });

  test('an alert of the deployment belongs to no tenant', async () => {
    expect(await raise({}, DEPLOYMENT)).toBe(true);
    expect(await rows(DEPLOYMENT)).toHaveLength(1);
    expect(await published(DEPLOYMENT)).toHaveLength(1);
    const named = await database.db.selectFrom('tenants').select('id').where('id', '=', DEPLOYMENT).execute();
    expect(named).toEqual([]);
  });

  test('deletes an alert long after it was resolved, but never while open', async () => {
    await raise();
    await raise({ fingerprint: 'another' });
    await resolve();
    at(100);
    await deleteOldAlerts(database.store.db, 99_000);
    expect(await rows()).toEqual([expect.objectContaining({ fingerprint: 'another' })]);
  });

  test('raised by eight concurrent calls begins one episode', async () => {
    const news = await Promise.all(Array.from({ length: 8 }, () => raise()));
    expect(news.filter(Boolean)).toHaveLength(1);
    expect(await rows()).toEqual([expect.objectContaining({ count: 8 })]);
    expect(await published()).toHaveLength(1);
  });
});

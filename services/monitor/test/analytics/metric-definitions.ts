import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { METRIC_REGISTRY } from '@pipeline/domain';
import { createAuthentication } from '../../src/auth/authentication.ts';
import { type Call, OLGA, serveApp } from '../support/served-app.ts';
import { database } from './database.ts';

describe('metric definitions', () => {
  let call: Call;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const now = () => new Date();
    ({ call, close } = await serveApp({ auth: createAuthentication({ logins: [OLGA], loginAttempts: 10, now }) }));
  });
  afterAll(() => close());

  const authorization = `Basic ${Buffer.from(`${OLGA.username}:${OLGA.password}`).toString('base64')}`;

  test('every definition is served, also without a store', async () => {
    const { status, json } = await call('GET', '/api/metric-definitions', { headers: { authorization } });
    const { items, snapshot } = json as { items: { id: string }[]; snapshot: true };
    expect([status, snapshot]).toEqual([200, true]);
    expect(items.map(({ id }) => id)).toEqual(METRIC_REGISTRY.map(({ id }) => id));
    expect(items.find(({ id }) => id === 'est_duration')).toEqual({
      id: 'est_duration',
      group: 'Queue',
      label: 'Est. duration',
      unit: 'ms',
      window: 'trailing 7 d',
      formula:
        'median of (completed - claimed), by repo and executor (the agent of the task type); only with 5 samples or more, else a dash',
      source: 'GET /api/task-queue, tasks[].estimatedDurationMs',
    });
  });

  test('it asks for credentials', async () => {
    const { json } = await call('GET', '/api/metric-definitions');
    expect(json).toMatchObject({ status: 401, code: 'AUTH_REQUIRED' });
  });

  afterAll(() => database.clear());
});

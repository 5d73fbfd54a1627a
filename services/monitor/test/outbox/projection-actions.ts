import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { beginSending, settle } from '@pipeline/engine';
import { sql } from 'kysely';
import { admit } from '../support/bench.ts';
import { serveApp } from '../support/served-app.ts';
import { Shop } from '../support/shop.ts';
import { database } from './database.ts';

describe('actions on writes', () => {
  const bench = new Shop(database);
  const { call } = bench;
  let number = 0;
  let id = 0;

  interface Listed {
    projections: { id: number; status: string; issueNumber: number; attempts: number; action: { type: string } }[];
  }
  const list = async (query = '') =>
    ((await call('GET', `/api/projections${query}`)).json as never as Listed).projections;

  /** An issue with its two first entries: labels and the status comment. */
  beforeEach(async () => {
    number += 1;
    await admit(bench, number);
    id = (await list()).find((entry) => entry.issueNumber === number && entry.action.type === 'swapLabels')?.id ?? 0;
  });

  const send = async (result: Parameters<typeof settle>[2]) => {
    const sending = await beginSending(bench.engine, bench.tenantId, id);
    if (!sending) throw new Error('not pending');
    await settle(bench.engine, sending, result);
    return sending;
  };
  const OK = { status: 'ok' as const, repeated: false, created: null };
  const NO = { status: 'refused' as const, httpStatus: 422, message: 'no', kind: 'other' as const };

  describe('list', () => {
    test('lists pending and failed entries without a status, newest first, with the repo as the host spells it', async () => {
      await send(NO);
      const [newest] = await list();
      expect(newest).toMatchObject({ repoOwner: 'Acme', repoName: 'Shop', issueNumber: number, clientType: 'sandbox' });
      expect((await list()).find((entry) => entry.id === id)).toMatchObject({ status: 'failed', attempts: 1 });
      expect((await list('?status=failed')).every(({ status }) => status === 'failed')).toBe(true);
      expect((await list('?status=pending')).map((entry) => entry.id)).not.toContain(id);
    });

    test('a status that does not exist is refused', async () => {
      expect((await call('GET', '/api/projections?status=lost')).json).toMatchObject({
        status: 400,
        code: 'INVALID_INPUT',
      });
    });
  });

  describe('retry and discard', () => {
    test('complete -> POST retry: the next attempt looks at the host before it writes', async () => {
      await send(OK);
      await call('POST', `/api/projections/${id}/retry`);
      expect((await send(OK)).mayHaveHappened).toBe(true);
    });
  });

  test.each([
    ['first', 400, 'INVALID_INPUT', 'Invalid request'],
    ['0', 400, 'INVALID_INPUT', 'Invalid request'],
    ['', 400, 'INVALID_INPUT', 'Invalid request'],
    ['1/2', 400, 'INVALID_INPUT', 'Invalid request'],
    ['%ZZ', 400, 'INVALID_INPUT', 'Invalid request'],
    ['9007199254740993', 400, 'INVALID_INPUT', 'Invalid request'],
    ['999999', 404, 'NOT_FOUND', 'Projection not found: 999999'],
  ])('projection %s', async (key, ...refusal) => {
    const [status, code, error] = refusal;
    for (const action of ['retry', 'discard']) {
      expect((await call('POST', `/api/projections/${key}/${action}`)).json).toEqual({ error, code, status });
    }
  });

  test('a path of the family that ends in no action is no route', async () => {
    for (const path of ['1/explode', '1', '1/retry/now'])
      expect((await call('POST', `/api/projections/${path}`)).json).toEqual({
        error: 'No matching route',
        code: 'NOT_FOUND',
        status: 404,
      });
  });

  describe.each([
    ['GET', '/api/projections'],
    ['POST', '/api/projections/1/retry'],
    ['POST', '/api/projections/1/discard'],
  ])('%s %s', (method, path) => {
    test('500 Internal server error', async () => {
      await sql`alter table projections rename column retry_after to gone`.execute(database.db);
      const answer = await call(method, path.replace('1', String(id)));
      await sql`alter table projections rename column gone to retry_after`.execute(database.db);
      expect(answer.json).toEqual({ error: 'Internal server error', code: 'INTERNAL_ERROR', status: 500 });
    });

    test('503 Pipeline store not available', async () => {
      const bare = await serveApp();
      const answer = await bare.call(method, path);
      await bare.close();
      const unavailable = { error: 'Pipeline store not available', code: 'STORE_UNAVAILABLE', status: 503 };
      expect(answer.json).toEqual(unavailable);
    });
  });

  afterAll(() => database.clear());
});

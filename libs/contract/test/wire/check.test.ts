import { describe, expect, test } from '@jest/globals';
import { checkAnswer, checkedFetch, hostedSurface, monitorSurface, type SeenAnswer } from '../../src/index.ts';

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };
const item = {
  id: '0198c5a4-7c1e-7000-8000-000000000001',
  repoOwner: 'a',
  repoName: 'b',
  issueNumber: 1,
  fromState: 'planning',
  targetState: 'done',
  agentName: null,
  error: 'no edge',
  createdAt: '2026-01-02T03:04:05.678Z',
};
const list = (item: object, page: object = { total: 1, limit: 100, offset: 0, hasMore: false }) =>
  JSON.stringify({ items: [item], page, polledAt: null });

const check = (seen: Partial<Omit<SeenAnswer, 'headers'>> & { headers?: Record<string, string> }) =>
  checkAnswer(monitorSurface, {
    method: 'GET',
    path: '/api/dead-letters',
    status: 200,
    body: list(item),
    ...seen,
    headers: new Headers(seen.headers ?? JSON_HEADERS),
  }).map((line) => line.split(': ').slice(1).join(': '));

const error = (code: string, status: number) => JSON.stringify({ error: 'x', code, status });

describe('checkAnswer', () => {
  test('finds no problem in an answer as declared', () => {
    expect(check({})).toEqual([]);
    expect(check({ status: 401, body: error('AUTH_FAILED', 401) })).toEqual([]);
    expect(check({ path: '/api/none', status: 404, body: error('NOT_FOUND', 404) })).toEqual([]);
    expect(check({ path: '/assets/x', status: 404, body: '', headers: {} })).toEqual([]);
  });

  test.each([
    ['an undeclared status', { status: 201 }, 'status is not declared'],
    [
      'another content type',
      { headers: { 'content-type': 'text/html' } },
      'content type is text/html, expected application/json',
    ],
    ['no JSON', { body: '<p>' }, 'body is not JSON'],
    ['a field too many', { body: list({ ...item, extra: 1 }) }, 'body.items.0.extra is not declared'],
    ['a field too few', { body: list({ ...item, error: undefined }) }, 'body.items.0.error: '],
    ['a wrong type', { body: list({ ...item, issueNumber: '1' }) }, 'body.items.0.issueNumber: '],
    [
      'an error of another code',
      { status: 400, body: error('INVALID_STATE', 400) },
      'code INVALID_STATE is not declared',
    ],
    [
      'an error whose status is not its own',
      { status: 401, body: error('AUTH_FAILED', 403) },
      'status in the body is 403',
    ],
    [
      'an error with more than its fields',
      { status: 401, body: '{"error":"x","code":"AUTH_FAILED","status":401,"at":1}' },
      'body is not an ApiError',
    ],
    ['a page on an unknown path', { path: '/none', status: 404, body: '<p>' }, 'body is not an ApiError'],
    [
      'a body where none is declared',
      { path: '/assets/x', status: 404, body: 'x', headers: {} },
      'has a body, none is declared',
    ],
  ])('names %s', (_name, seen, expected) => {
    expect(check(seen)).toEqual([expect.stringContaining(expected)]);
  });
});

describe('checkedFetch', () => {
  const answering = (status: number, body: string) => async () => new Response(body, { status, headers: JSON_HEADERS });

  test('refuses what is not declared', async () => {
    const { fetch } = checkedFetch(monitorSurface, answering(200, list({ ...item, extra: 1 })));
    await expect(fetch('http://h/api/dead-letters')).rejects.toThrow('body.items.0.extra is not declared');
  });

  test('lists the declared answers that no call has produced', async () => {
    const good = checkedFetch(monitorSurface, answering(200, JSON.stringify({ ok: true })));
    expect(good.unproduced()).toContain('resolveDeadLetter 200');
    const url = 'http://h/api/dead-letters/1/resolve';
    await good.fetch(url, { method: 'POST' });
    expect(good.unproduced()).not.toContain('resolveDeadLetter 200');
    expect(good.unproduced()).toContain('resolveDeadLetter 404 NOT_FOUND');
    expect(good.unproduced().join()).not.toContain('INTERNAL_ERROR');
  });
});

test('takes a page for an unknown path outside the API only where the surface has such pages', () => {
  const page = { method: 'GET', status: 404, headers: new Headers({ 'content-type': 'text/html' }), body: '<p>' };
  expect(checkAnswer(hostedSurface, { ...page, path: '/nothing' })).toEqual([]);
  expect(checkAnswer(hostedSurface, { ...page, path: '/api/nothing' })).toHaveLength(1);
  expect(checkAnswer(monitorSurface, { ...page, path: '/nothing' })).toHaveLength(1);
});

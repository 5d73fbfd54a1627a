import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serveSample } from '../sample.ts';

let sample: Awaited<ReturnType<typeof serveSample>>;
beforeAll(async () => {
  sample = await serveSample();
});
afterAll(() => sample.close());

const body = JSON.stringify({ to: 'a', reason: 'b' });
const move = (id: string, from = sample, headers = {}) =>
  from.call(`/api/things/${id}/move`, { method: 'POST', body, headers });

/** Waits for a line of the log: it is written when the connection is done with the answer. */
async function logged(msg: string, from = sample) {
  for (;;) {
    const line = from.lines().findLast((one) => one.msg === msg);
    if (line) return line;
    await new Promise(setImmediate);
  }
}

describe('an error', () => {
  test('an error has message, code and status, and keeps its detail to the log', async () => {
    const answer = await move('404');
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: 'Issue not found: a/b#404', code: 'ISSUE_NOT_FOUND', status: 404 },
    ]);
    expect(await logged('request refused')).toMatchObject({ detail: { plan: 1 } });
  });

  test('an error has the status that its route gives to the code', async () => {
    expect((await move('422')).status).toBe(422);
  });

  test('shows nothing of an unexpected error outside, and its cause in the log under the request id', async () => {
    const answer = await move('500', sample, { 'x-request-id': 'find-me' });
    expect(await answer.json()).toEqual({ error: 'Failed to move', code: 'INTERNAL_ERROR', status: 500 });
    expect(await logged('request failed')).toMatchObject({
      level: 'error',
      requestId: 'find-me',
      error: { message: 'password is hunter2' },
    });
  });

  test('an error that the route does not declare is a 500 in tests; in production it is sent, logged and counted', async () => {
    expect((await move('410')).status).toBe(500);
    const lenient = await serveSample({ answerCheck: 'log' });
    const answer = await fetch(`${lenient.url}/api/things/410/move`, {
      method: 'POST',
      body,
      headers: { authorization: 'Basic good' },
    });
    expect(answer.status).toBe(410);
    expect(await logged('error is not declared by its route', lenient)).toMatchObject({ code: 'TASK_CANCELLED' });
    expect(await lenient.registry.metrics()).toContain('svc_http_undeclared_answers_total{route="moveThing"} 1');
    await lenient.close();
  });

  test('an error after the answer has begun breaks the connection', async () => {
    const answer = await sample.call('/odd/half').catch((error: unknown) => error);
    const text = answer instanceof Response ? await answer.text().catch(() => 'broken') : 'broken';
    expect(text).toBe('broken');
    expect(await logged('request failed after the response had started')).toMatchObject({
      error: { message: 'broke off' },
    });
  });
});

test('an undeclared field is a 500 in tests and a log line in production', async () => {
  expect((await sample.call('/odd/leak')).status).toBe(500);
  expect(await logged('request failed')).toMatchObject({ error: { message: 'odd -> 202: body.leak is not declared' } });
  const lenient = await serveSample({ answerCheck: 'log' });
  const answer = await fetch(`${lenient.url}/odd/leak`, { headers: { authorization: 'Basic good' } });
  expect(answer.status).toBe(202);
  expect(await logged('response is not declared by the contract', lenient)).toMatchObject({
    problems: ['body.leak is not declared'],
  });
  await lenient.close();
});

describe('each request', () => {
  test('each request is one log line, without its query and its credentials', async () => {
    const fresh = await serveSample();
    await fresh.call('/api/things?q=hunter2', { headers: { 'x-request-id': 'r-1' } });
    const line = await logged('request', fresh);
    expect(line).toMatchObject({
      requestId: 'r-1',
      method: 'GET',
      path: '/api/things',
      route: 'listThings',
      status: 200,
      identity: 'operator:test',
      address: '127.0.0.1',
    });
    expect(JSON.stringify(fresh.lines())).not.toMatch(/hunter2|Basic/);
    await fresh.close();
  });

  test('counts requests by route, method and status, unknown paths under one name', async () => {
    const fresh = await serveSample();
    await fresh.call('/api/things/one');
    for (const path of ['/api/x1', '/api/x2']) await fresh.call(path);
    while (fresh.lines().filter((line) => line.msg === 'request').length < 3) await new Promise(setImmediate);
    const text = await fresh.registry.metrics();
    expect(text).toContain('svc_http_requests_total{route="thingOne",method="GET",status="200"} 1');
    expect(text).toContain('svc_http_requests_total{route="unmatched",method="GET",status="404"} 2');
    expect(text).toContain('svc_http_request_seconds_count{route="thingOne"} 1');
    await fresh.close();
  });
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyRoute } from '@pipeline/contract';
import { sanitizeForm } from '../../src/body/read-input.ts';
import { serveSample } from '../sample.ts';

let sample: Awaited<ReturnType<typeof serveSample>>;
beforeAll(async () => {
  sample = await serveSample();
});
afterAll(() => sample.close());

const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];
const post = async (path: string, body: string) => codeOf(await sample.call(path, { method: 'POST', body }));

describe('text that Postgres cannot store', () => {
  test('refuses such text in a path or a query where the schema refuses it', async () => {
    expect(await post('/api/things/1%00/move', '{}')).toEqual([400, 'INVALID_ISSUE_NUMBER']);
    expect(await codeOf(await sample.call('/api/things?limit=1%00'))).toEqual([400, 'INVALID_INPUT']);
  });

  test('becomes U+FFFD in paths and queries that may hold any text, so that it names nothing', async () => {
    expect(await (await sample.call('/odd/a%00b/c')).text()).toBe('<p>a\ufffdb/c</p>');
    expect(await (await sample.call('/api/things?q=a%00')).json()).toMatchObject({ q: 'a\ufffd' });
    expect(await (await sample.call('/api/things?q=%2500')).json()).toMatchObject({ q: '%00' });
  });

  test('refuses such text in a body as the route refuses the field that holds it', async () => {
    expect(await post('/api/things/1/move', '{"to":"\\u0000","reason":"b"}')).toEqual([400, 'INVALID_STATE']);
    expect(await post('/api/things/1/move', '{"to":"a","reason":"\\ud800"}')).toEqual([400, 'INVALID_BODY']);
    expect(await post('/api/optional', '"\\u0000"')).toEqual([400, 'INVALID_BODY']);
  });

  test('drops such text with the undeclared field that holds it', async () => {
    const body = '{"to":"a","reason":"b","x":{"y":["\\uDfff"]},"\\u0000":1}';
    expect((await sample.call('/api/things/1/move', { method: 'POST', body })).status).toBe(200);
  });

  test('passes as what it is where it is whole: a pair of surrogates, a backslash before u0000', async () => {
    const body = '{"to":"\\ud83d\\ude00","reason":"\\\\u0000"}';
    const answer = await sample.call('/api/things/1/move', { method: 'POST', body });
    expect(await answer.json()).toEqual({ id: '1', to: '😀' });
  });

  test('becomes U+FFFD in a body whose route replaces it', async () => {
    const replacing = await serveSample({
      surface: {
        ...sample.surface,
        routes: sample.surface.routes.map((one: AnyRoute) => ({ ...one, unstorableText: 'replace' })) as never,
      },
    });
    const body = '{"to":"a\\u0000b\\ud800","reason":"b"}';
    const answer = await replacing.call('/api/things/1/move', { method: 'POST', body });
    expect(await answer.json()).toEqual({ id: '1', to: 'a\ufffdb\ufffd' });
    await replacing.close();
  });

  test('becomes U+FFFD in a form', () => {
    const sanitized = (text: string) => new URLSearchParams(Buffer.from(sanitizeForm(Buffer.from(text))).toString());
    expect(Object.fromEntries(sanitized('a=x%00y&b=\0&c=%C3%A9&d=%2500'))).toEqual({
      a: 'x\ufffdy',
      b: '\ufffd',
      c: 'é',
      d: '%00',
    });
  });
});

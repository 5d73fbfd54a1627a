import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { embedItems } from '@pipeline/engine';
import { serverClosedWithFile } from '@pipeline/testing/closing';
import { titles } from './intelligence-world.ts';
import { world } from './world.ts';

describe('recall by meaning', () => {
  const asked: { authorization: string | undefined; body: { model: string; input: string[] } }[] = [];
  let answer: 'vectors' | 'nonsense' | 'error' = 'vectors';
  let url = '';

  /** Texts about money point one way, texts about mail the other; the rest between. */
  const vectorOf = (text: string) => [
    /money|refund|payback/i.test(text) ? 1 : 0.1,
    /mail|letter/i.test(text) ? 1 : 0.1,
    0.2,
  ];

  beforeAll(async () => {
    const server = createServer((request, response) => {
      let text = '';
      request.on('data', (chunk) => {
        text += String(chunk);
      });
      request.on('end', () => {
        const body = JSON.parse(text);
        asked.push({ authorization: request.headers.authorization, body });
        if (answer === 'error') response.writeHead(500).end();
        else if (answer === 'nonsense') response.end('{"data":[{"index":0,"embedding":["x"]}]}');
        else {
          const data = body.input.map((one: string, index: number) => ({
            object: 'embedding',
            index,
            embedding: vectorOf(one),
          }));
          response.end(JSON.stringify({ object: 'list', data: data.toReversed(), model: body.model }));
        }
      });
    });
    serverClosedWithFile(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
  });
  beforeEach(() => {
    answer = 'vectors';
    asked.length = 0;
    const endpoint = { url, model: 'small', apiKeyEnv: 'EMBEDDING_KEY', dimensions: null, timeoutMs: 2_000 };
    world.retrieval = { ...world.retrieval, embedding: true, embeddingEndpoint: endpoint };
  });

  test('finds what shares no word, by an endpoint that speaks the API', async () => {
    await world.learn([
      { title: 'Payback needs two people', summary: 'Always.', tags: [], scopes: [] },
      { title: 'Letters go out at night', summary: 'Always.', tags: [], scopes: [] },
    ]);
    await world.stand('approved');
    expect(await embedItems(world.engine)).toEqual({ made: 2, more: false });
    expect(await embedItems(world.engine)).toEqual({ made: 0, more: false });
    const issue = await world.issueThat('Money vanished', '');
    const found = await world.retrieve(`agent=developer&issue=${issue}`);
    expect(titles(found)[0]).toBe('Payback needs two people');
    expect(found.snippets[0]?.reason).toContain('near in meaning (1.00)');
    expect(found.methodBreakdown.embeddingHits).toBe(2);
    expect(found.retrievalContext).toMatchObject({ embeddingEnabled: true, embeddingError: null });
    expect(asked.map(({ authorization, body }) => [authorization, body.model, body.input.length])).toEqual([
      ['Bearer s3cret', 'small', 2],
      ['Bearer s3cret', 'small', 1],
    ]);
  });

  test.each([
    ['answers with an error', 'error' as const, /answered 500/],
    ['answers nonsense', 'nonsense' as const, /invalid vector/],
  ])('fails softly when the endpoint %s, rests, and comes back', async (_what, how, message) => {
    await world.learn([{ title: 'Refund rule' }]);
    await world.stand('approved');
    world.database.clock.now = new Date('2026-05-01T00:00:00Z');
    const issue = await world.issueThat('Refund', '');
    answer = how;
    const found = await world.retrieve(`agent=developer&issue=${issue}`);
    expect(titles(found)).toEqual(['Refund rule']);
    expect(found.retrievalContext.embeddingError).toMatch(message);
    await world.retrieve(`agent=developer&issue=${issue}`);
    expect(asked).toHaveLength(1);
    answer = 'vectors';
    world.database.clock.now = new Date('2026-05-01T00:00:31Z');
    expect((await world.retrieve(`agent=developer&issue=${issue}`)).retrievalContext.embeddingError).toBeNull();
  });

  test('reports that nothing answers, or that the key is missing, and never the key', async () => {
    const issue = await world.issueThat('Refund', '');
    const endpoint = { url: 'http://127.0.0.1:9', model: 'm', apiKeyEnv: null, dimensions: null, timeoutMs: 500 };
    world.database.clock.now = new Date('2026-05-02T00:00:00Z');
    world.retrieval = { ...world.retrieval, embeddingEndpoint: endpoint };
    const away = (await world.retrieve(`agent=developer&issue=${issue}`)).retrievalContext.embeddingError;
    expect(away).toMatch(/^no answer from http:\/\/127\.0\.0\.1:9/);
    world.database.clock.now = new Date('2026-05-02T00:01:00Z');
    world.retrieval = { ...world.retrieval, embeddingEndpoint: { ...endpoint, apiKeyEnv: 'NO_SUCH_KEY' } };
    const { retrievalContext } = await world.retrieve(`agent=developer&issue=${issue}`);
    expect(retrievalContext.embeddingError).toMatch(/^NO_SUCH_KEY, named by embeddingEndpoint, is not set/);
  });
});

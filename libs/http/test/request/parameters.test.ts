import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parameterProblems, routesWithParameters } from '@pipeline/contract';
import { serveSample, surface } from '../sample.ts';

let sample: Awaited<ReturnType<typeof serveSample>>;
beforeAll(async () => {
  sample = await serveSample();
});
afterAll(() => sample.close());

async function probe(path: string) {
  const answer = await sample.call(path);
  const text = await answer.text();
  return {
    status: answer.status,
    code: answer.status >= 400 ? (JSON.parse(text) as { code: string }).code : undefined,
  };
}

test.each(
  routesWithParameters(surface)
    .filter(({ id }) => id !== 'odd')
    .map((route) => [route.id, route] as const),
)('the parameter stage accepts and refuses every text as the document says: %s', async (_id, route) => {
  expect(await parameterProblems(surface, route, probe)).toEqual([]);
});

import { isDeepStrictEqual } from 'node:util';
import { openApiDocument, type Surface } from '@pipeline/contract';
import type { Check } from './check.ts';
import { must, mustEqual } from './outcome.ts';
import { NO_CREDENTIAL } from './probe.ts';

/** The document that a target serves is the one of the declarations. */
export const documentChecks = (surface: Surface): Check[] => [
  {
    suite: 'documents',
    endpoint: 'getOpenApi',
    name: 'serves the OpenAPI document of the contract without authentication',
    async run(probe) {
      const answer = await probe.send('/api/openapi.json', { credential: NO_CREDENTIAL });
      mustEqual('status', answer.status, 200);
      const served = answer.json<Documented>();
      const declared = JSON.parse(JSON.stringify(openApiDocument(surface))) as Documented;
      const [difference] = differences(declared, served, '');
      must(difference === undefined, `the document differs at ${difference}`);
    },
  },
];

type Documented = Record<string, unknown>;

/** JSON pointers of what differs, in the order of the declared document. */
function* differences(declared: unknown, served: unknown, at: string): Generator<string> {
  if (isDeepStrictEqual(declared, served)) return;
  if (!isObject(declared) || !isObject(served)) {
    yield `${at || '/'}: ${shortOf(served)}, expected ${shortOf(declared)}`;
    return;
  }
  for (const key of new Set([...Object.keys(declared), ...Object.keys(served)]))
    yield* differences(declared[key], served[key], `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

const isObject = (value: unknown): value is Documented => typeof value === 'object' && value !== null;

const shortOf = (value: unknown): string => (value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 120));

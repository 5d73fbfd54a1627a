import { type AnyRoute, isRawBody, type Surface } from '@pipeline/contract';
import fc from 'fast-check';
import type { Credential, CredentialMatrix } from '../target/credentials.ts';
import type { PlannedCase } from '../target/planned-request.ts';
import { type McpTool, toolCalls } from './mcp-calls.ts';
import type { Case } from './result.ts';
import { validRequests } from './valid-requests.ts';
import type { Vocabulary } from './vocabulary.ts';
import { woundedRequests } from './wounded-requests.ts';

interface CaseSource {
  surface: Surface;
  route: AnyRoute;
  matrix: CredentialMatrix;
  vocabulary: Vocabulary;
  tools: readonly McpTool[];
}

/** Shares in percent of an endpoint that has all three. */
const SHARE = { valid: 50, invalid: 35, refusedCaller: 15 };

/**
 * Every kind of request to one endpoint: valid and invalid by good callers, valid by callers that must be refused.
 * @returns null when no credential for the endpoint was given and it refuses no caller.
 */
export function casesOf({ surface, route, matrix, vocabulary, tools }: CaseSource): fc.Arbitrary<Case> | null {
  const known = (name: string) => vocabulary.known(route.path, name);
  const valid = validRequests(surface, route, known);
  const invalid = woundedRequests(surface, route, valid);
  const isUnspecified = isRawBody(route.body) || route.undocumented === true;
  const expectation = { kind: isUnspecified ? 'unspecified' : 'valid' } as const;
  const fine = valid.map((request): PlannedCase => ({ request, expectation }));
  const planned = route.id === 'postMcp' && tools.length > 0 ? fc.oneof(fine, toolCalls(route, tools, known)) : fine;
  const by = (cases: fc.Arbitrary<PlannedCase>, credentials: readonly Credential[], isGood: boolean) =>
    credentials.length === 0
      ? null
      : fc
          .tuple(cases, fc.constantFrom(...credentials))
          .map(([one, credential]): Case => ({ ...one, caller: { credential, isGood } }));
  const all = [
    { arbitrary: by(planned, matrix.good(route.auth), true), weight: SHARE.valid },
    { arbitrary: invalid && by(invalid, matrix.good(route.auth), true), weight: SHARE.invalid },
    { arbitrary: by(fine, matrix.bad(route.auth), false), weight: SHARE.refusedCaller },
  ].filter((one): one is { arbitrary: fc.Arbitrary<Case>; weight: number } => one.arbitrary !== null);
  return all.length === 0 ? null : fc.oneof(...all);
}

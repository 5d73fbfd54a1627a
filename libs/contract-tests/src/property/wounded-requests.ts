import {
  type AnyRoute,
  DEFAULT_REFUSALS,
  isRawBody,
  type Refusal,
  STATUS_OF,
  type Surface,
  statusOn,
} from '@pipeline/contract';
import fc from 'fast-check';
import type { z } from 'zod';
import { wounds } from './body-wounds.ts';
import { refusedTexts } from './field-texts.ts';
import type { ExpectedRefusal, PlannedCase } from './planned-request.ts';
import { withEachText } from './sample-input.ts';
import { isServedBy, type ValidRequest } from './valid-requests.ts';

type Invalid = fc.Arbitrary<PlannedCase>;

/**
 * Valid requests of a route, each broken in one place so that the declarations refuse it, with the refusal that they
 * declare for that place. @returns null for a route that refuses nothing.
 */
export function woundedRequests(surface: Surface, route: AnyRoute, valid: fc.Arbitrary<ValidRequest>): Invalid | null {
  const all = [
    ...parameterWounds(surface, route, valid),
    ...queryWounds(route, valid),
    ...bodyWounds(surface, route, valid),
  ];
  return all.length === 0 ? null : fc.oneof(...all);
}

const shapeOf = (schema: z.ZodObject | undefined) => Object.entries((schema?.shape ?? {}) as Record<string, z.ZodType>);

function invalid(request: ValidRequest, where: string, refusals: readonly ExpectedRefusal[]): PlannedCase {
  return { request, expectation: { kind: 'invalid', where, refusals } };
}

function refusalOn(route: AnyRoute, { code, message }: Refusal, names: readonly string[]): ExpectedRefusal {
  return { status: statusOn(route, code), code, ...(message !== undefined && { message }), names };
}

function parameterWounds(surface: Surface, route: AnyRoute, valid: fc.Arbitrary<ValidRequest>): Invalid[] {
  const refusal = route.refusals.params ?? DEFAULT_REFUSALS.params;
  return shapeOf(route.params).flatMap(([name, schema]) => {
    const texts = refusedTexts(schema, 'path');
    if (!texts) return [];
    const broken = fc
      .tuple(valid, texts)
      .map(([request, text]): ValidRequest => ({ ...request, params: { ...request.params, [name]: text } }))
      .filter((request) => isServedBy(surface, request));
    return [broken.map((request) => invalid(request, `path ${name}`, [refusalOn(route, refusal, [name])]))];
  });
}

function queryWounds(route: AnyRoute, valid: fc.Arbitrary<ValidRequest>): Invalid[] {
  const refusal = route.refusals.query ?? DEFAULT_REFUSALS.query;
  return shapeOf(route.query).flatMap(([name, schema]) => {
    const refuses = (value: unknown) => !schema.safeParse(value).success;
    const set = (request: ValidRequest, values: readonly string[]): ValidRequest => ({
      ...request,
      query: [
        ...request.query.filter(([other]) => other !== name),
        ...values.map((value): [string, string] => [name, value]),
      ],
    });
    const texts = refusedTexts(schema, 'query');
    const broken = [
      ...(texts ? [fc.tuple(valid, texts).map(([request, text]) => set(request, [text]))] : []),
      ...(refuses(['a', 'b']) ? [valid.map((request) => set(request, ['a', 'b']))] : []),
      ...(refuses(undefined) && !route.needsQuery ? [valid.map((request) => set(request, []))] : []),
    ];
    return broken.map((one) =>
      one.map((request) => invalid(request, `query ${name}`, [refusalOn(route, refusal, [name])])),
    );
  });
}

/** Bodies up to this size are also sent one byte too large. */
const LARGEST_OVERSIZE = 1024 * 1024;

function bodyWounds(surface: Surface, route: AnyRoute, valid: fc.Arbitrary<ValidRequest>): Invalid[] {
  const { body } = route;
  if (!body || isRawBody(body)) return [];
  const filled = valid.filter(({ json }) => json !== undefined);
  const broken = fc
    .tuple(filled, wounds(body))
    .map(([request, wound]) => ({ request, json: wound(request.json) }))
    .filter(({ json }) => !body.safeParse(json).success)
    .map(({ request, json }) =>
      invalid(
        { ...request, json, body: JSON.stringify(json) },
        'body',
        bodyRefusals(route, body.safeParse(json).error?.issues ?? []),
      ),
    );
  return [
    broken,
    broken,
    broken,
    brokenJson(route, filled),
    ...(route.unstorableText === 'replace' ? [] : [unstorable(route, filled)]),
    ...(surface.requireJsonType ? [otherTypes(filled)] : []),
    ...(route.bodyLimit <= LARGEST_OVERSIZE ? [tooLarge(route, filled)] : []),
  ];
}

function bodyRefusals(route: AnyRoute, issues: readonly z.core.$ZodIssue[]): ExpectedRefusal[] {
  return issues.map((issue) => {
    const field = String(issue.path[0] ?? '');
    const own = route.refusals.fields?.[field] ?? route.refusals.body ?? DEFAULT_REFUSALS.body;
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [];
    return refusalOn(route, own, field === '' ? keys : [field, ...keys]);
  });
}

function brokenJson(route: AnyRoute, filled: fc.Arbitrary<ValidRequest>): Invalid {
  const texts = fc.constantFrom<string | Uint8Array<ArrayBuffer>>(
    ...['{', ']', 'x', '{"a":1}}', "{'a':1}", '{"a":01}', '{"a":"\n"}', 'NaN', 'undefined', '{"a":1,}'],
    '['.repeat(10_000),
    new Uint8Array([0x22, 0xff, 0xfe, 0x22]),
    ...(route.bodyOptional ? [] : ['', ' ']),
  );
  const refusal = refusalOn(route, route.refusals.json ?? DEFAULT_REFUSALS.json, []);
  return fc.tuple(filled, texts).map(([request, body]) => invalid({ ...request, body }, 'JSON', [refusal]));
}

/** NUL and halves of surrogate pairs, in one text at a time. */
function unstorable(route: AnyRoute, filled: fc.Arbitrary<ValidRequest>): Invalid {
  const endings = fc.constantFrom('\0', '\ud800');
  return fc
    .tuple(filled, fc.nat(), endings)
    .map(([request, index, ending]) => {
      const changed = [...withEachText(request.json, (text) => `${text}${ending}`)];
      const [path, json] = changed[index % Math.max(1, changed.length)] ?? ['', undefined];
      return { request, json, field: path.split('.')[1] ?? '' };
    })
    .filter(({ json }) => json !== undefined)
    .map(({ request, json, field }) => {
      const issues = [{ code: 'custom' as const, path: [field], message: '', input: undefined }];
      return invalid({ ...request, body: JSON.stringify(json) }, 'body', bodyRefusals(route, issues));
    });
}

const UNSUPPORTED: ExpectedRefusal = {
  status: STATUS_OF.UNSUPPORTED_MEDIA_TYPE,
  code: 'UNSUPPORTED_MEDIA_TYPE',
  names: [],
};

function otherTypes(filled: fc.Arbitrary<ValidRequest>): Invalid {
  const types = fc.constantFrom('text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'json');
  return fc
    .tuple(filled, types)
    .map(([request, type]) =>
      invalid({ ...request, headers: { ...request.headers, 'content-type': type } }, 'content type', [UNSUPPORTED]),
    );
}

function tooLarge(route: AnyRoute, filled: fc.Arbitrary<ValidRequest>): Invalid {
  const refusal = { status: STATUS_OF.PAYLOAD_TOO_LARGE, code: 'PAYLOAD_TOO_LARGE', names: [] };
  const large = filled.map((request) => {
    const padding = ' '.repeat(Math.max(0, route.bodyLimit + 1 - Buffer.byteLength(String(request.body))));
    return invalid({ ...request, body: `${request.body}${padding}` }, 'size', [refusal]);
  });
  // Megabytes are sent seldom: the other wounds say more for their cost.
  return fc.oneof({ arbitrary: large, weight: 1 }, { arbitrary: brokenJson(route, filled), weight: 19 });
}

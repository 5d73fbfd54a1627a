import type { ErrorCode } from '@pipeline/domain';
import { errorCatalogue, STATUS_OF } from './errors.ts';
import { type AnyRoute, checksOrigin, isRawBody, type Refusal } from './route.ts';
import type { Surface } from './surface.ts';

/** One error answer of a route. `common` = it comes from the stages before the handler, alike for all routes. */
export interface ErrorReply {
  code: ErrorCode;
  status: number;
  description: string;
  common: boolean;
}

/** How each stage answers what it does not take, unless the route says otherwise. */
export const DEFAULT_REFUSALS = {
  params: { code: 'NOT_FOUND' },
  query: { code: 'INVALID_INPUT' },
  json: { code: 'INVALID_JSON', message: 'Invalid JSON body' },
  body: { code: 'INVALID_BODY' },
} as const satisfies Record<string, Refusal>;

/** The status that a code has on this route. */
export function statusOn(route: AnyRoute, code: ErrorCode): number {
  const own = route.errors.find((error) => typeof error === 'object' && error.code === code);
  return (typeof own === 'object' ? own.status : undefined) ?? STATUS_OF[code];
}

/** What the stages before the handler need to know of a surface. */
type StageRules = Pick<Surface, 'hostCheck'>;

/** Every error that a route may answer on its surface: its own first, then what the stages before it may say. */
export function errorsOf(surface: StageRules, route: AnyRoute): ErrorReply[] {
  const found = new Map<ErrorCode, ErrorReply>();
  const add = (code: ErrorCode, common: boolean, description: string = errorCatalogue[code].text) => {
    if (!found.has(code)) found.set(code, { code, status: statusOn(route, code), description, common });
  };
  for (const error of route.errors) {
    if (typeof error === 'string') add(error, false);
    else add(error.code, false, error.description);
  }
  for (const refusal of refusalsOf(route)) add(refusal.code, false, refusal.message);
  if (route.failure) add(route.failure.code, true, route.failure.message);
  for (const code of stageErrors(surface, route)) add(code, true);
  return [...found.values()];
}

function refusalsOf(route: AnyRoute): Refusal[] {
  const own = route.refusals;
  const json = route.body && !isRawBody(route.body);
  return [
    route.params && (own.params ?? DEFAULT_REFUSALS.params),
    route.query && (own.query ?? DEFAULT_REFUSALS.query),
    json && (own.json ?? DEFAULT_REFUSALS.json),
    json && (own.body ?? DEFAULT_REFUSALS.body),
    ...Object.values(own.fields ?? {}),
  ].filter((refusal): refusal is Refusal => typeof refusal === 'object');
}

function stageErrors(surface: StageRules, route: AnyRoute): ErrorCode[] {
  const codes: ErrorCode[] = ['INVALID_INPUT', 'RATE_LIMITED', 'INTERNAL_ERROR'];
  if (surface.hostCheck) codes.push('HOST_NOT_ALLOWED');
  if (checksOrigin(route)) codes.push('ORIGIN_NOT_ALLOWED');
  if (route.auth !== 'none' && route.auth !== 'signature') codes.push('AUTH_REQUIRED', 'AUTH_FAILED');
  if (route.needsStore) codes.push('STORE_UNAVAILABLE');
  if (route.body) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'REQUEST_TIMEOUT', 'OVERLOADED');
  return codes;
}

import type { ErrorCode } from '@pipeline/domain';
import { errorCatalogue, STATUS_OF } from './errors.ts';
import { type AnyRoute, checksOrigin, isRawBody, type Refusal } from './route.ts';
import type { Surface } from './surface.ts';

/** One error response of a route. `common` = produced by a middleware stage shared by all routes. */
export interface ErrorReply {
  code: ErrorCode;
  status: number;
  description: string;
  common: boolean;
}

/** Default error of each validation stage; a route may override it. */
export const DEFAULT_REFUSALS = {
  params: { code: 'NOT_FOUND' },
  query: { code: 'INVALID_INPUT' },
  json: { code: 'INVALID_JSON', message: 'Invalid JSON body' },
  body: { code: 'INVALID_BODY' },
} as const satisfies Record<string, Refusal>;

/** Returns the HTTP status of an error code on this route. */
export function statusOn(route: AnyRoute, code: ErrorCode): number {
  const own = route.errors.find((error) => typeof error === 'object' && error.code === code);
  return (typeof own === 'object' ? own.status : undefined) ?? STATUS_OF[code];
}

/** Surface settings that decide which stages apply. */
type StageRules = Pick<Surface, 'hostCheck'>;

/** Returns every error a route may return on its surface: its own first, then those of the middleware stages. */
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

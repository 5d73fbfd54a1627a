import { type AnyRoute, fillPath, isRawBody } from '@pipeline/contract';

/** Request for one endpoint, before credentials are added. */
export interface PlannedRequest {
  readonly route: AnyRoute;
  readonly params: Readonly<Record<string, string>>;
  /** Parameters in the order in which they are sent; a name may appear twice. */
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Expected answer to a request. */
export type Expectation =
  /** Valid by the declarations: any declared answer but a refusal of its form. */
  | { kind: 'valid' }
  /** Request of no declared form, such as a form whose fields are not declared: any declared answer. */
  | { kind: 'unspecified' }
  /** A call of a listed tool: a result, or a refusal of its arguments. */
  | { kind: 'tool-call'; isValid: boolean }
  /** Invalid in one place: the declared refusal of that place. */
  | { kind: 'invalid'; where: string; refusals: readonly ExpectedRefusal[] };

export interface ExpectedRefusal {
  status: number;
  code: string;
  /** The declared text, where the route declares one. */
  message?: string;
  /** Otherwise the text contains one of these names. */
  names: readonly string[];
}

export interface PlannedCase {
  request: PlannedRequest;
  expectation: Expectation;
}

/** Path and query as they are sent. */
export function addressOf({ route, params, query }: PlannedRequest): string {
  const search = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  return `${fillPath(route.path, params)}${search === '' ? '' : `?${search}`}`;
}

/** The content type that a route's body is sent with. */
export const bodyType = ({ body }: AnyRoute): string => (isRawBody(body) ? body.type : 'application/json');

/** Returns whether the route reads, and can be sent without any parameter. */
export const isPlainRead = ({ method, path, query, undocumented }: AnyRoute): boolean =>
  method === 'get' && !path.includes('{') && !undocumented && (query?.safeParse({}).success ?? true);

import { ApiError, checkAnswer, type SeenAnswer, type Surface, statusOn } from '@pipeline/contract';
import type { Credential } from '../target/credentials.ts';
import { toolCallProblem } from '../target/mcp-message.ts';
import type { Expectation, ExpectedRefusal, PlannedRequest } from '../target/planned-request.ts';
import type { Outcome } from '../target/target.ts';

/** Whose request it was. */
export interface Caller {
  credential: Credential;
  /** True = the target must accept the credential. */
  isGood: boolean;
}

export const PROBLEM_KINDS = [
  'no-answer',
  'server-error',
  'undeclared',
  'valid-refused',
  'invalid-accepted',
  'wrong-refusal',
  'access-granted',
  'access-denied',
] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

/** Problem of an answer. Equal signatures are one finding. */
export interface Problem {
  kind: ProblemKind;
  text: string;
  signature: string;
}

export interface Verdict {
  problem: Problem | null;
  /** Set when a valid request met a condition that its route declares with status 400, such as a forbidden move. */
  condition: string | null;
}

const FINE: Verdict = { problem: null, condition: null };

/** Holds an answer to the declarations of its surface and to what the request deserves. */
export function judge(
  surface: Surface,
  { request, expectation, caller }: { request: PlannedRequest; expectation: Expectation; caller: Caller },
  outcome: Outcome,
): Verdict {
  if (!outcome.ok) return bad(request, 'no-answer', outcome.error, '');
  const { answer } = outcome;
  const failure = serverError(request, answer);
  if (failure) return failure;
  const [undeclared] = [...checkAnswer(surface, answer), ...missingHeaders(request, answer)];
  if (undeclared !== undefined) return bad(request, 'undeclared', undeclared, withoutPlace(undeclared));
  if (answer.status === 429) return FINE;
  if (!caller.isGood) return judgeRefusedCaller(request, caller, answer);
  return judgeAccepted(request, expectation, answer);
}

const bad = ({ route }: PlannedRequest, kind: ProblemKind, text: string, detail: string): Verdict => ({
  problem: { kind, text, signature: `${route.id} ${kind} ${detail}` },
  condition: null,
});

/** Answers for the state of the service are not declared as an answer to a request. */
const isStateOfService = (id: string) => id === 'getReadiness';

function serverError(request: PlannedRequest, answer: SeenAnswer): Verdict | null {
  if (answer.status < 500 || isStateOfService(request.route.id)) return null;
  const { code } = errorOf(answer);
  const own = request.route.errors.some((error) => (typeof error === 'string' ? error : error.code) === code);
  if (answer.status === 503 && own) return null;
  return bad(request, 'server-error', `${answer.status} ${answer.body.slice(0, 300)}`, `${answer.status} ${code}`);
}

function missingHeaders({ route }: PlannedRequest, { status, headers }: SeenAnswer): string[] {
  if (status === 429 && !/^\d+$/.test(headers.get('retry-after') ?? '')) return ['429 without Retry-After in seconds'];
  const challenge = headers.get('www-authenticate') ?? '';
  if (route.auth === 'operator' && /basic/i.test(challenge)) return ['a Basic challenge is sent'];
  if (status === 401 && route.auth === 'connection' && !/^Bearer/.test(challenge))
    return ['401 of a protected resource without a Bearer challenge'];
  return [];
}

/** An error text without what the caller gave: quoted texts, slugs, numbers. */
const general = (error: string): string =>
  (error.split('"')[0] ?? '')
    .split(' ')
    .map((word) => (word.includes('/') ? '…' : word))
    .join(' ')
    .replace(/\d+/g, 'N');

/** Without the address, numbers and quoted texts that differ from request to request. */
const withoutPlace = (text: string): string =>
  text
    .replace(/^.* -> /, '')
    .replace(/\d+/g, 'N')
    .slice(0, 120);

function judgeRefusedCaller(request: PlannedRequest, { credential }: Caller, answer: SeenAnswer): Verdict {
  if (answer.status === 401 || answer.status === 403) return FINE;
  const text = `${answer.status} for a caller with credential "${credential.name}"`;
  if (answer.status < 400) return bad(request, 'access-granted', text, credential.name);
  return bad(request, 'wrong-refusal', text, `${answer.status} for ${credential.name}`);
}

function judgeAccepted(request: PlannedRequest, expectation: Expectation, answer: SeenAnswer): Verdict {
  const { code, error } = errorOf(answer);
  if (code.startsWith('AUTH_') && request.route.auth !== 'none')
    return bad(request, 'access-denied', `${answer.status} ${code}: ${error}`, code);
  if (expectation.kind === 'invalid') return judgeInvalid(request, expectation, answer);
  if (expectation.kind === 'valid') return judgeValid(request, answer);
  if (expectation.kind === 'tool-call') {
    const text = answer.status === 200 ? toolCallProblem(answer.body, expectation.isValid) : `status ${answer.status}`;
    if (text === null) return FINE;
    return bad(request, expectation.isValid ? 'valid-refused' : 'invalid-accepted', text, withoutPlace(text));
  }
  return FINE;
}

const FORM_STATUSES = [400, 408, 413, 415];

function judgeValid(request: PlannedRequest, answer: SeenAnswer): Verdict {
  if (!FORM_STATUSES.includes(answer.status)) return FINE;
  const { code, error } = errorOf(answer);
  const { route } = request;
  const own = route.errors.some((one) => (typeof one === 'string' ? one : one.code) === code);
  if (own && statusOn(route, code as never) === answer.status)
    return { problem: null, condition: `${route.id} ${answer.status} ${code}: ${general(error)}` };
  return bad(request, 'valid-refused', `${answer.status} ${code}: ${error}`, `${code} ${general(error)}`);
}

function judgeInvalid(
  request: PlannedRequest,
  { where, refusals }: Extract<Expectation, { kind: 'invalid' }>,
  answer: SeenAnswer,
): Verdict {
  const names = [...new Set(refusals.flatMap((one) => one.names))].join(', ');
  const place = names === '' ? where : `${where} (${names})`;
  if (answer.status < 400) return bad(request, 'invalid-accepted', `${answer.status} for an invalid ${place}`, place);
  if (refusals.some((refusal) => meets(refusal, answer))) return FINE;
  const { code, error } = errorOf(answer);
  const wanted = [...new Set(refusals.map(describe))].join(' or ');
  const text = `invalid ${place}: ${answer.status} ${code}: ${error}; declared is ${wanted}`;
  return bad(request, 'wrong-refusal', text, `${place} ${answer.status} ${code}`);
}

function meets({ status, code, message, names }: ExpectedRefusal, answer: SeenAnswer): boolean {
  const given = errorOf(answer);
  if (answer.status !== status || given.code !== code) return false;
  if (message !== undefined) return given.error === message;
  return names.length === 0 || names.some((name) => given.error.includes(name));
}

const describe = ({ status, code, message, names }: ExpectedRefusal): string =>
  `${status} ${code}${message === undefined ? (names.length > 0 ? ` naming ${names.join(' or ')}` : '') : `: ${message}`}`;

function errorOf({ body }: SeenAnswer): { code: string; error: string } {
  try {
    const parsed = ApiError.safeParse(JSON.parse(body));
    if (parsed.success) return parsed.data;
  } catch {
    // Pages and files are no ApiError.
  }
  return { code: '', error: '' };
}

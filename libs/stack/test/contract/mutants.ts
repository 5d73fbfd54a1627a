import { sleep } from '@pipeline/runtime';
import type { Mutant, Passing } from './mutating-proxy.ts';
import { oauthMutants } from './oauth-mutants.ts';

type Json = Record<string, unknown>;

/** Changes the JSON body of answers with a status. */
const json =
  (status: number, change: (body: Json, address: string) => unknown): NonNullable<Mutant['answer']> =>
  (answer, address) => {
    if (answer.status !== status || answer.body === '') return answer;
    return { ...answer, body: JSON.stringify(change(JSON.parse(answer.body) as Json, address)) };
  };

const status =
  (from: number, to: number): NonNullable<Mutant['answer']> =>
  (answer) =>
    answer.status === from ? { ...answer, status: to } : answer;

const header =
  (name: string, value: string | null): NonNullable<Mutant['answer']> =>
  (answer) => {
    const headers = new Headers(answer.headers);
    if (value === null) headers.delete(name);
    else headers.set(name, value);
    return { ...answer, headers };
  };

const without =
  (field: string) =>
  ({ [field]: _dropped, ...rest }: Json) =>
    rest;
const withItems = (change: (items: Json[]) => Json[]) => (body: Json) => ({
  ...body,
  items: change(body.items as Json[]),
});
const withPage = (change: Json | ((page: Json) => Json)) => (body: Json) => {
  const page = body.page as Json;
  return { ...body, page: { ...page, ...(typeof change === 'function' ? change(page) : change) } };
};
const withError = (change: Json) => (body: Json) => ({ ...body, ...change });

/** Reads of the monitor whose first field is dropped, whose status is changed, and which get a field too many. */
const READS = [
  ...['readDashboard', 'searchIssues', 'explainIssueTo', 'diagnoseIssue', 'issueStatus', 'readTimeline', 'listTracks'],
  ...['stateTimeseries', 'cohortFunnel', 'throughput', 'listTaskQueue', 'workerFloor', 'configSummary', 'readDigest'],
] as const;

const shapes: Mutant[] = READS.flatMap((endpoint, index) => {
  const kinds: Omit<Mutant, 'endpoints'>[] = [
    { name: `${endpoint} lacks a field`, answer: json(200, (body) => without(Object.keys(body)[0] ?? '')(body)) },
    { name: `${endpoint} has a field too many`, answer: json(200, (body) => ({ ...body, secret: 'x' })) },
    { name: `${endpoint} answers 201`, answer: status(200, 201) },
  ];
  // Each read gets two of the three.
  return kinds.filter((_kind, at) => at !== index % kinds.length).map((kind) => ({ ...kind, endpoints: [endpoint] }));
});

const errors: Mutant[] = [
  {
    name: 'swaps the code of an unknown issue',
    endpoints: ['transitionIssue'],
    answer: json(404, withError({ code: 'NOT_FOUND' })),
  },
  {
    name: 'swaps the code of a missing state',
    endpoints: ['transitionIssue'],
    answer: json(400, withError({ code: 'INVALID_BODY' })),
  },
  {
    name: 'says another status in the body',
    endpoints: ['readTimeline'],
    answer: json(400, withError({ status: 422 })),
  },
  {
    name: 'rewords a malformed timeline path',
    endpoints: ['unknown'],
    answer: json(400, withError({ error: 'Bad path' })),
  },
  { name: 'rewords an unknown route', endpoints: ['unknown'], answer: json(404, withError({ error: 'Cannot GET' })) },
  { name: 'rewords an unknown track', endpoints: ['enableTrack'], answer: json(404, withError({ error: 'no track' })) },
  { name: 'rewords a missing repo', endpoints: ['listTracks'], answer: json(400, withError({ error: 'repo?' })) },
  { name: 'answers 404 for an unknown repo of a timeline', endpoints: ['readTimeline'], answer: status(503, 404) },
  { name: 'answers 422 for an invalid window', endpoints: ['cohortFunnel'], answer: status(400, 422) },
  {
    name: 'accepts an unknown window',
    endpoints: ['autonomy'],
    request: (_headers, address) => ({ address: address.replace('window=9d', '') }),
  },
  {
    name: 'accepts an unknown agent',
    endpoints: ['retrieveIntelligence'],
    request: (_h, address) => ({ address: address.replace('nobody', 'planner') }),
  },
  {
    name: 'accepts an unknown level of logs',
    endpoints: ['listLogs'],
    request: (_h, address) => ({ address: address.replace('level=loud', '') }),
  },
  {
    name: 'ignores a word as limit of events',
    endpoints: ['issueEvents'],
    request: (_h, address) => ({ address: address.replace('limit=x', '') }),
  },
  { name: 'sends errors as text', endpoints: ['readStrategySnapshot'], answer: header('content-type', 'text/plain') },
  { name: 'sends a stack with an error', endpoints: ['putTrack'], answer: json(400, withError({ stack: 'at x' })) },
  {
    name: 'gives a body to a missing file',
    endpoints: ['getAsset'],
    answer: (answer) => ({ ...answer, body: 'gone' }),
  },
];

const paging: Mutant[] = [
  {
    name: 'turns a page around',
    endpoints: ['searchIssues'],
    answer: json(
      200,
      withItems((items) => items.toReversed()),
    ),
  },
  {
    name: 'repeats an item',
    endpoints: ['listFindings'],
    answer: json(200, (body, address) =>
      address.includes('offset=2') ? withItems((items) => items.slice(0, 1).concat(items.slice(0, 1)))(body) : body,
    ),
  },
  {
    name: 'leaves the last item of a page out',
    endpoints: ['listPipelineEvents'],
    answer: json(200, (body, address) =>
      address.includes('limit=2') ? withItems((items) => items.slice(0, -1))(body) : body,
    ),
  },
  { name: 'always has more', endpoints: ['listAlerts'], answer: json(200, withPage({ hasMore: true })) },
  {
    name: 'counts one too few',
    endpoints: ['searchIssues'],
    answer: json(
      200,
      withPage(({ total }) => ({ total: Number(total) - 60 })),
    ),
  },
  {
    name: 'does not clamp a limit',
    endpoints: ['listDeadLetters'],
    answer: json(200, (body, address) => withPage({ limit: Number(/limit=(\d+)/.exec(address)?.[1] ?? 100) })(body)),
  },
  {
    name: 'has another default limit',
    endpoints: ['listConsistencyFindings'],
    answer: json(
      200,
      withPage(({ limit }) => ({ limit: limit === 100 ? 50 : limit })),
    ),
  },
  { name: 'gives a total where none is', endpoints: ['issueEvents'], answer: json(200, withPage({ total: 1 })) },
  { name: 'says another offset', endpoints: ['listIntelligence'], answer: json(200, withPage({ offset: 0 })) },
  {
    name: 'ignores the offset',
    endpoints: ['listIssues'],
    request: (_h, address) => ({ address: address.replace(/offset=\d+/, 'offset=0') }),
  },
];

/** Changes the offset of later pages once an action has been done. */
function shiftedAfter(action: RegExp, rows: number): Pick<Mutant, 'request' | 'answer'> {
  let isShifted = false;
  return {
    request(_headers, address) {
      const offset = Number(/offset=(\d+)/.exec(address)?.[1] ?? 0);
      return isShifted && offset > 0 ? { address: address.replace(/offset=\d+/, `offset=${offset + rows}`) } : {};
    },
    answer(answer, address) {
      isShifted ||= answer.status === 200 && action.test(address);
      return answer;
    },
  };
}

/** Pages of a list that changes while it is read. */
const movingPages = (): Mutant[] => [
  {
    name: 'skips a row when rows were inserted',
    endpoints: ['listPipelineEvents', 'setTrackCooldown'],
    ...shiftedAfter(/\/cooldown$/, 2),
  },
  {
    name: 'repeats more rows than were inserted',
    endpoints: ['listPipelineEvents', 'setTrackCooldown'],
    ...shiftedAfter(/\/cooldown$/, -2),
  },
  {
    name: 'skips rows of an issue when rows were inserted',
    endpoints: ['issueEvents', 'pauseIssue'],
    ...shiftedAfter(/\/pause$/, 5),
  },
  {
    name: 'moves an issue that is updated',
    endpoints: ['searchIssues', 'pauseIssue'],
    ...shiftedAfter(/\/pause$/, 1),
  },
  {
    name: 'moves an issue whose task is handed back',
    endpoints: ['listIssues', 'failTask'],
    ...shiftedAfter(/\/fail$/, 1),
  },
];

/** The service gets good credentials whatever the client sent. */
const letsIn =
  (authorization: string): NonNullable<Mutant['request']> =>
  () => ({ headers: { authorization } });

const authentication = (basic: string, bearer: string, worker: string): Mutant[] => [
  { name: 'shows the dashboard to everybody', endpoints: ['readDashboard'], request: letsIn(basic) },
  { name: 'lets everybody pause issues', endpoints: ['pauseIssue'], request: letsIn(basic) },
  { name: 'streams to everybody', endpoints: ['streamEvents'], request: letsIn(basic), answer: (a) => a },
  { name: 'shows issues to everybody', endpoints: ['listIssues'], request: letsIn(bearer) },
  { name: 'lets everybody register a worker', endpoints: ['registerWorker'], request: letsIn(worker) },
  {
    name: 'takes a worker token for a connection',
    endpoints: ['bootstrap'],
    request: (headers) =>
      headers.get('authorization')?.includes('wrk_at_') ? { headers: { authorization: bearer } } : {},
  },
  { name: 'challenges browsers', endpoints: ['searchIssues'], answer: header('www-authenticate', 'Basic realm="x"') },
  {
    name: 'calls a missing credential failed',
    endpoints: ['listRepos'],
    answer: json(401, withError({ code: 'AUTH_FAILED' })),
  },
  { name: 'answers 403 without credentials', endpoints: ['listAudit'], answer: status(401, 403) },
  {
    name: 'reads the body before the credentials',
    endpoints: ['putTrack'],
    answer: (answer) => (answer.status === 401 ? refusedBody(answer) : answer),
  },
  { name: 'guards the metrics', endpoints: ['getMetricsText'], answer: status(200, 401) },
  {
    name: 'does not lead to the metadata',
    endpoints: ['bootstrap', 'getProtectedResource'],
    answer: header('www-authenticate', null),
  },
];

const refusedBody = (answer: Passing): Passing => ({
  ...answer,
  status: 400,
  body: JSON.stringify({ error: 'Invalid JSON body', code: 'INVALID_JSON', status: 400 }),
});

const text =
  (change: (body: string) => string): NonNullable<Mutant['answer']> =>
  (answer) => ({ ...answer, body: change(answer.body) });

const documents: Mutant[] = [
  {
    name: 'documents another version',
    endpoints: ['getOpenApi'],
    answer: text((body) => body.replace('"version":"', '"version":"9')),
  },
  {
    name: 'documents an endpoint less',
    endpoints: ['getOpenApi'],
    answer: json(200, (body) => ({ ...body, paths: without('/health')(body.paths as Json) })),
  },
  {
    name: 'loses the type of a metric',
    endpoints: ['getMetricsText'],
    answer: text((body) => body.replace(/^# TYPE .*\n/m, '')),
  },
  {
    name: 'repeats a sample',
    endpoints: ['getMetricsText'],
    answer: text((body) => `${body}${body.split('\n').findLast((line) => line !== '')}\n`),
  },
  {
    name: 'gives a metric no number',
    endpoints: ['getMetricsText'],
    answer: text((body) => body.replace(/ \d\S*\n/, ' many\n')),
  },
  {
    name: 'serves metrics as another version',
    endpoints: ['getMetricsText'],
    answer: header('content-type', 'text/plain; version=0.0.3'),
  },
];

const programs: Mutant[] = [
  {
    name: 'answers another MCP request',
    endpoints: ['postMcp'],
    answer: text((body) => body.replaceAll('"id":1', '"id":2')),
  },
  {
    name: 'describes no tool',
    endpoints: ['postMcp'],
    answer: text((body) => body.replaceAll('"description"', '"about"')),
  },
  {
    name: 'answers an MCP batch',
    endpoints: ['postMcp'],
    answer: (answer) => (answer.status === 400 ? { ...answer, status: 200 } : answer),
  },
  {
    name: 'supports plain PKCE',
    endpoints: ['getAuthorizationServer'],
    answer: json(200, (body) => ({ ...body, code_challenge_methods_supported: ['S256', 'plain'] })),
  },
  {
    name: 'names another issuer',
    endpoints: ['getAuthorizationServer'],
    answer: json(200, (body) => ({ ...body, issuer: 'https://elsewhere.example.org' })),
  },
  {
    name: 'says that a token is revoked, and keeps it',
    endpoints: ['revokeToken'],
    request: (_headers, address) => (address === '/oauth/revoke' ? { address: '/oauth/token' } : {}),
    answer: status(400, 200),
  },
  { name: 'lets caches keep token errors', endpoints: ['token'], answer: header('cache-control', 'public') },
  {
    name: 'answers too late',
    endpoints: ['getSession'],
    answer: async (answer) => {
      await sleep(3_000);
      return answer;
    },
  },
];

/** Authorization headers that the services accept, and the password of the user who logs in. */
export interface MutantCredentials {
  basic: string;
  bearer: string;
  worker: string;
  password: string;
}

/** Every mutant, by the part of the contract that it breaks. */
export const mutantKinds = (credentials: MutantCredentials): Readonly<Record<string, readonly Mutant[]>> => ({
  shapes,
  errors,
  paging,
  movingPages: movingPages(),
  authentication: authentication(credentials.basic, credentials.bearer, credentials.worker),
  documents,
  programs,
  oauth: oauthMutants(credentials),
});

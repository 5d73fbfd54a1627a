import type { Refusal } from './refusal-row.ts';
import { ABSENT } from './samples.ts';

const { number, uuid, track, repo: nowhere } = ABSENT;
const ISSUE = '/api/issues/{owner}/{name}/{issue}';
const NO_ISSUE = `/api/issues/{owner}/{name}/${number}`;
const NO_TRACK = `/api/tracks/{owner}/{name}/${track}`;
const STRATEGY = '/api/strategy/{owner}/{name}';
const post = { method: 'POST' };
const notJson = { ...post, body: '{' };
const input = { status: 400, code: 'INVALID_INPUT' };

const timeline: Refusal[] = [
  {
    ...{ endpoint: 'unknown', address: '/api/timeline/{owner}/{name}', what: 'a path without an issue', status: 400 },
    message: 'Expected /api/timeline/:owner/:repo/:issue',
  },
  {
    ...{ endpoint: 'readTimeline', address: '/api/timeline/{owner}/{name}/x', what: 'a word as issue', status: 400 },
    message: 'Invalid issue number',
  },
  {
    ...{ endpoint: 'readTimeline', address: `/api/timeline/${nowhere}/1`, what: 'an unknown repo', status: 503 },
    message: `No repo context available for ${nowhere}`,
  },
];

const tracks: Refusal[] = [
  { endpoint: 'listTracks', address: '/api/tracks', what: 'a request without a query', status: 404, code: 'NOT_FOUND' },
  {
    ...{ endpoint: 'listTracks', address: '/api/tracks?repo=none', what: 'a repo without a slash', status: 400 },
    message: 'Missing or invalid repo query parameter',
  },
  {
    ...{ endpoint: 'putTrack', ...notJson, address: '/api/tracks', what: 'a body that is no JSON', status: 400 },
    message: 'Invalid JSON body',
  },
  {
    ...{ endpoint: 'putTrack', ...post, body: '{}', address: '/api/tracks', what: 'a body without fields' },
    ...{ status: 400, message: 'Missing required fields: repo, name' },
  },
  {
    ...{ endpoint: 'updateTrack', ...notJson, address: NO_TRACK, what: 'a body that is no JSON' },
    ...{ status: 400, code: 'INVALID_JSON' },
  },
  ...[
    ['a negative weight', { weight: -1 }],
    ['a cron cadence without expression', { cadence: { kind: 'cron' } }],
    ['a slate without counts', { proposal: [{ size: 'small' }] }],
    ['a cooldown below 1', { cooldown_minutes: 0 }],
  ].map(([what, body]) => ({
    ...{ endpoint: 'updateTrack', ...post, body: JSON.stringify(body), address: NO_TRACK, what: String(what) },
    ...{ status: 400, code: 'INVALID_BODY' },
  })),
  {
    ...{ endpoint: 'updateTrack', ...post, body: '{}', address: NO_TRACK, what: 'an unknown track' },
    ...{ status: 404, code: 'TRACK_NOT_FOUND' },
  },
  ...['enable', 'disable'].map((action) => ({
    ...{ endpoint: `${action}Track`, ...post, address: `${NO_TRACK}/${action}`, what: 'an unknown track', status: 404 },
    message: `Track "${track}" not found`,
  })),
  {
    ...{ endpoint: 'createTrackPrompt', ...notJson, address: `${NO_TRACK}/prompts`, what: 'a body that is no JSON' },
    ...{ status: 400, message: 'Invalid JSON body' },
  },
  {
    ...{ endpoint: 'readTrackPrompt', address: `/api/tracks/{owner}/{name}/{track}/prompts/${number}` },
    ...{ what: 'an unknown version', status: 404, message: `Version ${number} not found` },
  },
  {
    ...{ endpoint: 'setTrackCooldown', ...notJson, address: `${NO_TRACK}/cooldown`, what: 'a body that is no JSON' },
    ...{ status: 400, code: 'INVALID_JSON' },
  },
  ...['{}', '{"cooldown_minutes":0}', '{"cooldown_minutes":1.5}'].map((body) => ({
    ...{ endpoint: 'setTrackCooldown', ...post, body, address: `${NO_TRACK}/cooldown`, what: `the body ${body}` },
    ...{ status: 400, code: 'INVALID_BODY' },
  })),
  {
    ...{ endpoint: 'setTrackCooldown', ...post, body: '{"cooldown_minutes":5}', address: `${NO_TRACK}/cooldown` },
    ...{ what: 'an unknown track', status: 404, code: 'TRACK_NOT_FOUND' },
  },
];

const actions: Refusal[] = [
  ...['pause', 'resume', 'unblock', 'retry', 'cancel'].flatMap((action) => [
    {
      ...{
        endpoint: `${action}Issue`,
        ...post,
        address: `${NO_ISSUE}/${action}`,
        what: 'an unknown issue',
        status: 404,
      },
      message: `Issue not found: {repo}#${number}`,
    },
    {
      ...{
        endpoint: `${action}Issue`,
        ...post,
        address: `/api/issues/${nowhere}/1/${action}`,
        what: 'an unknown repo',
      },
      ...{ status: 404, message: `Repo not found: ${nowhere}` },
    },
  ]),
  {
    ...{ endpoint: 'unknown', ...post, address: `${NO_ISSUE}/explode`, what: 'an unknown action', status: 404 },
    code: 'NOT_FOUND',
  },
  {
    ...{ endpoint: 'transitionIssue', ...notJson, address: `${NO_ISSUE}/transition`, what: 'a body that is no JSON' },
    ...{ status: 400, code: 'INVALID_JSON' },
  },
  ...['{}', '{"targetState":1,"reason":"x"}'].map((body) => ({
    ...{ endpoint: 'transitionIssue', ...post, body, address: `${NO_ISSUE}/transition`, what: `the body ${body}` },
    ...{ status: 400, code: 'INVALID_STATE' },
  })),
  ...['{"targetState":"done"}', '{"targetState":"done","reason":" "}', '{"targetState":"done","reason":1}'].map(
    (body) => ({
      ...{ endpoint: 'transitionIssue', ...post, body, address: `${NO_ISSUE}/transition`, what: `the body ${body}` },
      ...{ status: 400, code: 'INVALID_ARGUMENT' },
    }),
  ),
  {
    ...{ endpoint: 'transitionIssue', ...post, body: '{"targetState":"done","reason":"x"}' },
    ...{ address: `${NO_ISSUE}/transition`, what: 'an unknown issue', status: 404, code: 'ISSUE_NOT_FOUND' },
  },
];

const issues: Refusal[] = [
  ...(
    [
      ['listIssueFindings', 'findings'],
      ['issueRetrospective', 'retrospective'],
      ['issueArtefacts', 'artefacts'],
    ] as const
  ).map(([endpoint, suffix]) => ({
    ...{ endpoint, address: `/api/issues/{owner}/{name}/x/${suffix}`, what: 'a word as issue' },
    ...{ status: 400, code: 'INVALID_ISSUE_NUMBER' },
  })),
  {
    ...{ endpoint: 'issueStatus', address: `${NO_ISSUE}/status`, what: 'an issue outside the pipeline' },
    ...{ status: 404, code: 'NOT_FOUND' },
  },
  ...['limit', 'offset'].map((name) => ({
    ...{ endpoint: 'issueEvents', address: `${ISSUE}/events?${name}=x`, what: `a word as ${name}`, ...input },
  })),
  {
    ...{ endpoint: 'validTransitions', address: `${NO_ISSUE}/valid-transitions`, what: 'an unknown issue' },
    ...{ status: 404, code: 'ISSUE_NOT_FOUND' },
  },
  { endpoint: 'runArtefacts', address: '/api/runs/x/artefacts', what: 'a word as run', ...input },
];

const knowledge: Refusal[] = [
  { endpoint: 'listFindings', address: '/api/findings', what: 'a request without a repo', ...input },
  { endpoint: 'listFindings', address: '/api/findings?repo=none', what: 'a repo without a slash', ...input },
  { endpoint: 'listIntelligence', address: '/api/intelligence', what: 'a request without a repo', ...input },
  {
    ...{ endpoint: 'listIntelligence', address: '/api/intelligence?repo={repo}&min_confidence=2' },
    ...{ what: 'a confidence above 1', ...input },
  },
  {
    ...{ endpoint: 'retrieveIntelligence', address: '/api/intelligence/retrieve?repo={repo}' },
    ...{ what: 'a request without an agent', ...input },
  },
  {
    ...{ endpoint: 'retrieveIntelligence', address: '/api/intelligence/retrieve?repo={repo}&agent=nobody' },
    ...{ what: 'an unknown agent', ...input },
  },
  {
    ...{ endpoint: 'getIntelligence', address: `/api/intelligence/${uuid}`, what: 'an unknown item' },
    ...{ status: 404, code: 'NOT_FOUND' },
  },
];

const repairs: Refusal[] = [
  ...['retry', 'discard'].map((action) => ({
    ...{ endpoint: `${action}Projection`, ...post, address: `/api/projections/x/${action}`, what: 'a word as id' },
    ...{ status: 400, message: 'Invalid request' },
  })),
  {
    ...{ endpoint: 'retryDeadLetter', ...post, address: `/api/dead-letters/${uuid}/retry`, what: 'an unknown id' },
    ...{ status: 404, code: 'DEAD_LETTER_NOT_FOUND' },
  },
  {
    ...{
      endpoint: 'clearFlag',
      ...post,
      address: `/api/consistency/${encodeURIComponent(`stale_blocked:${nowhere}#1`)}/clear-flag`,
    },
    ...{ what: 'an unknown repo', status: 404, code: 'CONSISTENCY_FINDING_NOT_FOUND' },
  },
  {
    ...{ endpoint: 'drainWorker', ...notJson, address: `/api/workers/${uuid}/drain`, what: 'a body that is no JSON' },
    ...{ status: 400, message: 'Invalid JSON body' },
  },
  {
    ...{ endpoint: 'drainWorker', ...post, body: '{}', address: `/api/workers/${uuid}/drain`, what: 'an empty body' },
    ...{ status: 400, message: 'Missing required boolean field: drain' },
  },
];

const reads: Refusal[] = [
  ...['level=loud', 'since=yesterday', 'limit=0', 'limit=-1', 'offset=-1'].map((query) => ({
    ...{ endpoint: 'listLogs', address: `/api/logs?${query}`, what: query, ...input },
  })),
  {
    ...{ endpoint: 'listAgentMessages', address: '/api/logs/messages?owner={owner}&repo={name}' },
    ...{ what: 'a request without an issue', ...input },
  },
  ...['state-timeseries', 'cohort-funnel', 'autonomy'].map((path) => ({
    endpoint: { 'state-timeseries': 'stateTimeseries', 'cohort-funnel': 'cohortFunnel' }[path] ?? path,
    ...{ address: `/api/pipeline/${path}?window=9d`, what: 'an unknown window', ...input },
  })),
  ...['buckets=x', 'repo=none'].map((query) => ({
    ...{ endpoint: 'stateTimeseries', address: `/api/pipeline/state-timeseries?${query}`, what: query, ...input },
  })),
  { endpoint: 'throughput', address: '/api/pipeline/throughput?since=9d', what: 'an unknown time', ...input },
  { endpoint: 'listPipelineEvents', address: '/api/pipeline-events?issue=x', what: 'a word as issue', ...input },
  { endpoint: 'listPipelineEvents', address: '/api/pipeline-events?repo=none', what: 'a malformed repo', ...input },
];

const strategy: Refusal[] = [
  {
    ...{ endpoint: 'listStrategySnapshots', address: `${STRATEGY}/snapshots?status=odd`, what: 'an unknown status' },
    ...input,
  },
  { endpoint: 'readStrategySnapshot', address: `${STRATEGY}/snapshots/x`, what: 'a word as version', ...input },
  {
    ...{ endpoint: 'readStrategySnapshot', address: `${STRATEGY}/snapshots/${number}`, what: 'an unknown version' },
    ...{ status: 404, code: 'SNAPSHOT_NOT_FOUND' },
  },
  {
    ...{ endpoint: 'putStrategyCharter', method: 'PUT', body: '{', address: `${STRATEGY}/charter` },
    ...{ what: 'a body that is no JSON', status: 400, code: 'INVALID_JSON' },
  },
  ...['{}', '{"goals":"x","envelope":{"max_auto_size":"huge","prefer":[],"avoid":[],"escalate_when":[]}}'].map(
    (body) => ({
      ...{ endpoint: 'putStrategyCharter', method: 'PUT', body, address: `${STRATEGY}/charter` },
      ...{ what: `the body ${body}`, status: 400, code: 'INVALID_BODY' },
    }),
  ),
];

const others: Refusal[] = [
  {
    ...{ endpoint: 'unknown', address: '/api/pipeline-contract', what: 'an unknown route', status: 404 },
    ...{ code: 'NOT_FOUND', message: 'No matching route' },
  },
  {
    endpoint: 'login',
    ...notJson,
    address: '/api/auth/login',
    what: 'a body that is no JSON',
    status: 400,
    code: 'INVALID_JSON',
  },
  { endpoint: 'getAsset', address: '/assets/pipeline-contract.js', what: 'a missing file', status: 404 },
  { endpoint: 'getAsset', address: '/assets/..%2f..%2fpackage.json', what: 'a path out of the folder', status: 404 },
];

/** The error rows of interface.md for the monitor that change nothing on any target. */
export const MONITOR_REFUSALS: readonly Refusal[] = [
  ...others,
  ...timeline,
  ...tracks,
  ...actions,
  ...issues,
  ...knowledge,
  ...repairs,
  ...reads,
  ...strategy,
];

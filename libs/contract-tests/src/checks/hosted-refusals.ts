import type { Refusal } from './refusal-row.ts';
import { ABSENT } from './samples.ts';

const { number, repo: nowhere } = ABSENT;
const notEnabled = { what: 'a repo that is not enabled', status: 404, code: 'REPO_NOT_FOUND' };

/** Reads that need a repo. */
const OF_REPO: readonly (readonly [endpoint: string, path: string])[] = [
  ['listIssues', '/api/cli/issues'],
  ['explainIssue', '/api/cli/issues/{issue}/why'],
  ['pipelineOverview', '/api/cli/pipeline/overview'],
];

/** The error rows of interface.md for the hosted API. */
export const HOSTED_REFUSALS: readonly Refusal[] = [
  {
    endpoint: 'unknown',
    address: '/api/pipeline-contract',
    what: 'an unknown route',
    status: 404,
    code: 'NOT_FOUND',
    message: 'No matching route',
  },
  { endpoint: 'bootstrap', address: `/api/cli/bootstrap?repo=${nowhere}`, ...notEnabled },
  ...OF_REPO.flatMap(([endpoint, path]) => [
    { endpoint, address: path, what: 'a request without a repo', status: 400 },
    { endpoint, address: `${path}?repo=none`, what: 'a repo without a slash', status: 400 },
    { endpoint, address: `${path}?repo=${nowhere}`, ...notEnabled },
  ]),
  { endpoint: 'listIssues', address: '/api/cli/issues?repo={repo}&state=odd', what: 'an unknown state', status: 400 },
  { endpoint: 'explainIssue', address: '/api/cli/issues/0/why?repo={repo}', what: 'issue 0', status: 400 },
  { endpoint: 'explainIssue', address: '/api/cli/issues/x/why?repo={repo}', what: 'a word as issue', status: 400 },
  {
    endpoint: 'explainIssue',
    address: `/api/cli/issues/${number}/why?repo={repo}`,
    what: 'an unknown issue',
    status: 404,
    code: 'ISSUE_NOT_FOUND',
  },
  {
    endpoint: 'receiveGithubWebhook',
    method: 'POST',
    address: '/webhooks/github',
    body: '{}',
    what: 'a delivery without a signature',
    status: 401,
  },
];

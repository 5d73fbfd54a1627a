import { z } from 'zod';

/**
 * Loose shapes of the fields that are used. Deliveries carry far more, it differs between versions of the host, and what
 * is not read must never make a delivery fail.
 */
const user = z.looseObject({ login: z.string() });
const sender = user.nullish();
const hostId = z.int().positive().optional();
const repository = z.looseObject({ id: hostId, name: z.string(), owner: user });
const text = z.string().nullish();

const issue = z.looseObject({
  number: z.int(),
  title: z.string(),
  body: text,
  html_url: z.string(),
  state: z.string().default('open'),
  state_reason: text,
  labels: z.array(z.looseObject({ name: z.string() })).default([]),
  assignees: z.array(z.looseObject({ login: z.string(), type: text }).nullable()).nullish(),
  user: user.nullable(),
  pull_request: z.unknown().optional(),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullish().default(null),
});

const pullRequest = z.looseObject({
  number: z.int(),
  title: z.string(),
  body: text,
  html_url: z.string(),
  state: z.string(),
  merged_at: z.string().nullish().default(null),
  merge_commit_sha: z.string().nullish().default(null),
  head: z.looseObject({
    ref: z.string(),
    sha: z.string(),
    // Null when the fork was deleted.
    repo: z.looseObject({ id: z.int().optional(), full_name: z.string() }).nullish(),
  }),
  base: z.looseObject({ ref: z.string() }),
  user: user.nullable(),
  draft: z.boolean().optional(),
  created_at: z.string(),
  updated_at: z.string(),
});

const comment = z.looseObject({
  id: z.int(),
  user: user.nullable(),
  body: text,
  created_at: z.string(),
  updated_at: z.string(),
});

const review = z.looseObject({
  id: z.int(),
  user: user.nullable(),
  state: z.string(),
  body: text,
  submitted_at: text,
  commit_id: z.string().nullable(),
});

const checkSuite = z.looseObject({
  head_sha: z.string(),
  pull_requests: z.array(z.looseObject({ number: z.int() })).default([]),
});

const checkRun = z.looseObject({
  id: z.int(),
  head_sha: z.string(),
  name: z.string(),
  status: z.string(),
  conclusion: z.string().nullable(),
  html_url: z.string().nullish(),
  details_url: z.string().nullish(),
  started_at: z.string().nullish(),
  completed_at: z.string().nullish(),
  check_suite: z.looseObject({ id: z.int().optional() }).nullish(),
  pull_requests: z.array(z.looseObject({ number: z.int() })).default([]),
});

const named = z.array(z.looseObject({ id: hostId, full_name: z.string() })).default([]);

export const anyAction = z.looseObject({ action: z.string().optional() });
export const ISSUE_ACTIONS = [
  'opened',
  'edited',
  'labeled',
  'unlabeled',
  'assigned',
  'unassigned',
  'closed',
  'reopened',
] as const;
export const issuesPayload = z.looseObject({
  action: z.enum(ISSUE_ACTIONS),
  issue,
  label: z.looseObject({ name: z.string() }).optional(),
  changes: z.looseObject({ title: z.unknown().optional(), body: z.unknown().optional() }).optional(),
  repository,
  sender,
});
export const commentPayload = z.looseObject({ issue, comment, repository, sender });
/** Actions of a pull request that are read. */
export const PULL_REQUEST_ACTIONS = [
  'opened',
  'reopened',
  'closed',
  'synchronize',
  'edited',
  'dequeued',
  'converted_to_draft',
  'ready_for_review',
] as const;

export const pullRequestPayload = z.looseObject({
  action: z.enum(PULL_REQUEST_ACTIONS),
  pull_request: pullRequest,
  repository,
  sender,
});
export const reviewPayload = z.looseObject({
  review,
  pull_request: z.looseObject({ number: z.int() }),
  repository,
  sender,
});
export const checkSuitePayload = z.looseObject({ check_suite: checkSuite, repository, sender });
export const checkRunPayload = z.looseObject({ check_run: checkRun, repository, sender });
export const statusPayload = z.looseObject({
  id: z.int(),
  sha: z.string(),
  context: z.string(),
  state: z.string(),
  target_url: z.string().nullish(),
  updated_at: z.string(),
  repository,
  sender,
});
export const repositoryPayload = z.looseObject({ repository, sender });
const installation = z.looseObject({
  id: z.int(),
  html_url: z.url(),
  account: z.looseObject({ id: z.int(), login: z.string() }),
});
export const installationPayload = z.looseObject({ installation, repositories: named, sender });
export const repositoriesPayload = z.looseObject({
  installation,
  repositories_added: named,
  repositories_removed: named,
  sender,
});

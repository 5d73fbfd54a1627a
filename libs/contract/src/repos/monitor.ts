import { CHECK_POLICIES, Comparison, MAX_ROUNDS, MERGE_METHODS, MERGE_TRAINS } from '@pipeline/domain';
import { z } from 'zod';
import { keptText, Timestamp, UnpaginatedResponse, withReason } from '../wire/envelopes.ts';
import { slugText } from '../wire/parameter-texts.ts';
import { route } from '../wire/route.ts';
import { tenantQuery } from './query.ts';

const Repo = z
  .object({
    repo: z.string().meta({ description: 'owner/repo as the host spells it.', example: 'acme/shop' }),
    org: z.string().meta({ description: 'External id of the tenant.', example: 'default' }),
    enabled: z.boolean().meta({ description: 'Whether issues of the repo are imported.' }),
    host: z.string().meta({ description: 'Kind of the version-control host.', example: 'github' }),
    branch: z.string().meta({ description: 'Target branch of pull requests.' }),
    poolSize: z
      .int()
      .positive()
      .nullable()
      .meta({ description: 'Maximum number of concurrent tasks. Null = no limit.' }),
    setupCommand: z.string().nullable().meta({ description: 'Command that workers run after a checkout.' }),
    checkPolicy: z
      .string()
      .meta({ description: 'Checks that must be green before a merge: `required`, `all` or `none`.' }),
    mergeMethod: z.string().meta({ description: 'Preferred way of merging: `squash`, `merge` or `rebase`.' }),
    mergeTrain: z.string().meta({
      description:
        'Order of merges: `serial` = one after another, each tested on top of the merge before it; `off` = each as soon as it may be merged.',
    }),
    maxRounds: z.int().positive().meta({
      description: 'Times that an issue is sent back along one edge of the workflow before a person is asked.',
    }),
    compare: z
      .record(z.string(), z.record(z.string(), z.number()))
      .nullable()
      .meta({
        description: 'Weights of the agents that are compared, by task type. Null = no comparison.',
        example: { develop: { claude: 50, codex: 50 } },
      }),
    pushRestricted: z.boolean().nullable().meta({
      description: 'Whether pushes to the branch are restricted on the host. Null = not known yet.',
    }),
    unavailable: z.string().nullable().meta({
      description:
        'Why the enabled repo cannot be worked on: `archived` = read-only on the host, `missing` = deleted or hidden, `replaced` = missing, and another repository has its name, `duplicate` = the tenant has it a second time under its current name. Null = it can.',
      example: null,
    }),
    createdAt: Timestamp,
  })
  .meta({ id: 'Repo', description: 'A repo known to the pipeline.' });

const Check = z
  .object({
    check: z.string(),
    status: z.enum(['ok', 'warning', 'error', 'unknown']),
    message: z.string().meta({ description: 'The finding, with its remedy.' }),
  })
  .meta({ id: 'RepoCheck', description: 'One check of the settings of a repo on its host.' });

const checks = z.array(Check).meta({ description: 'Checks of the settings on the host. Empty for a disabled repo.' });
const repos = { auth: 'operator', tags: ['Repos'] } as const;

const listRepos = route({
  ...repos,
  id: 'listRepos',
  method: 'get',
  path: '/api/repos',
  summary: 'List repos',
  description:
    'Returns all repos of all tenants, including disabled ones, by tenant and name. Removed repos are omitted.',
  replies: { 200: { description: 'All repos.', body: UnpaginatedResponse(Repo) } },
});

const setting = keptText(1_000).min(1);

const withoutReviewGate = z.boolean().default(false).meta({
  description:
    'True = the repo is enabled although its branch does not require the status `svc/review` from the GitHub App of the pipeline, and its workflow merges what an agent approves. Any token with write access can then merge what was not approved.',
});

const addRepo = route({
  ...repos,
  id: 'addRepo',
  method: 'post',
  path: '/api/repos',
  summary: 'Add a repo',
  description:
    'Reads the repo from its host and adds it without a restart; open issues with the enqueue label are imported immediately. For a repo that was added before, the given settings are changed and the others keep their values, except that `enabled: false` does not disable it.',
  body: z.object({
    repo: slugText('must be owner/repo').meta({ description: 'owner/repo', example: 'acme/shop' }),
    tenant: setting.max(200).optional().meta({ description: 'External id of an existing tenant. Default: `default`.' }),
    host: z.enum(['github', 'sandbox']).optional().meta({
      description: 'Default: the host whose credentials the monitor has, GitHub first.',
    }),
    branch: setting.max(255).optional().meta({ description: 'Default: the default branch on the host.' }),
    poolSize: z.int().min(1).max(1_000).nullable().optional(),
    setupCommand: setting.nullable().optional(),
    checkPolicy: z.enum(CHECK_POLICIES).optional().meta({
      description:
        'Checks that must be green before a merge. `none` also merges a head without any check. Default: `required`.',
    }),
    mergeMethod: z.enum(MERGE_METHODS).optional().meta({ description: 'Preferred way of merging. Default: `squash`.' }),
    mergeTrain: z.enum(MERGE_TRAINS).optional().meta({
      description: '`serial` merges pull requests one after another, each on an updated branch. Default: `off`.',
    }),
    maxRounds: z.int().min(1).max(MAX_ROUNDS).optional().meta({
      description:
        'Times that an issue is sent back along one edge of the workflow before a person is asked. Default: 3.',
    }),
    compare: Comparison.nullable()
      .optional()
      .meta({
        description:
          'Weights of the agents that are compared, whole numbers from 1 to 1000, by task type (`analyze`, `plan`, `develop`, `review`). Null = no comparison, the default.',
        example: { develop: { claude: 50, codex: 50 } },
      }),
    enabled: z.boolean().default(true),
    withoutReviewGate,
    reason: withReason.body.shape.reason,
  }),
  replies: {
    200: {
      description: 'The repo. `added` is false when it was listed before.',
      body: z.object({ ok: z.literal(true), added: z.boolean(), repo: Repo, checks }),
    },
  },
  errors: [
    {
      code: 'INVALID_INPUT',
      description: 'The host has no such repo, no credentials for it are set, or its branch lacks the review gate',
    },
    { code: 'NOT_FOUND', description: 'Unknown tenant' },
    'HOST_UNAVAILABLE',
  ],
});

const onRepo = {
  ...repos,
  ...withReason,
  params: z.object({
    owner: z.string().min(1).max(100).meta({ description: 'Owner of the repo.', example: 'acme' }),
    repo: z.string().min(1).max(100).meta({ description: 'Name of the repo.', example: 'shop' }),
  }),
  query: tenantQuery,
  errors: [
    { code: 'NOT_FOUND', description: 'Unknown repo' },
    { code: 'INVALID_INPUT', description: 'Several tenants have the repo: set `tenant`' },
  ],
} as const;

const changed = {
  description: 'The repo. `changed` is false when it already had that status.',
  body: z.object({
    ok: z.literal(true),
    changed: z.boolean(),
    inProgress: z.int().nonnegative().meta({ description: 'Issues in progress; they are completed.' }),
    repo: Repo,
    checks,
  }),
};

const enableRepo = route({
  ...onRepo,
  id: 'enableRepo',
  method: 'post',
  path: '/api/repos/{owner}/{repo}/enable',
  summary: 'Enable a repo',
  description: 'Issues with the enqueue label are imported immediately.',
  body: withReason.body.extend({ withoutReviewGate }),
  replies: { 200: changed },
  errors: [
    { code: 'NOT_FOUND', description: 'Unknown repo' },
    {
      code: 'INVALID_INPUT',
      description: 'Several tenants have the repo: set `tenant`. Or its branch lacks the review gate',
    },
  ],
});

const disableRepo = route({
  ...onRepo,
  id: 'disableRepo',
  method: 'post',
  path: '/api/repos/{owner}/{repo}/disable',
  summary: 'Disable a repo',
  description:
    'Stops importing its issues and hides them from lists; issues in progress are completed. A repo listed in the configuration is enabled again when the monitor starts.',
  replies: { 200: changed },
});

const removeRepo = route({
  ...onRepo,
  id: 'removeRepo',
  method: 'delete',
  path: '/api/repos/{owner}/{repo}',
  summary: 'Remove a repo',
  description:
    'Removes the repo from all lists. Its history is kept, and adding it again continues it. Refused while issues are in progress. A repo listed in the configuration is added again when the monitor starts.',
  replies: { 200: { description: 'Removed.', body: z.object({ ok: z.literal(true), removed: z.literal(true) }) } },
  errors: [
    { code: 'NOT_FOUND', description: 'Unknown repo' },
    { code: 'INVALID_INPUT', description: 'Issues are in progress, or several tenants have the repo' },
  ],
});

export const repoRoutes = [listRepos, addRepo, enableRepo, disableRepo, removeRepo] as const;

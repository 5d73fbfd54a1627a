import { ROLES } from '@pipeline/domain';
import { z } from 'zod';
import { RepoQuery, read, repoNotFound } from '../repos/hosted-read.ts';
import { Timestamp } from '../wire/envelopes.ts';
import { route } from '../wire/route.ts';

const RepoSummary = z
  .object({
    id: z.int(),
    slug: z.string().meta({ description: '`owner/name` in the case used by the host.', example: 'acme/shop' }),
    owner: z.string(),
    name: z.string(),
    defaultBranch: z.string(),
    vcsHost: z.string(),
    enabled: z.literal(true),
  })
  .meta({ id: 'RepoSummary' });

const description = 'Null unless the operator publishes the store address (`TELL_STORE_DETAILS`).';

/** Organisation, user, enabled repos and store information of a connection. */
export const Bootstrap = z
  .object({
    org: z.object({ id: z.int(), slug: z.string(), name: z.string(), createdAt: Timestamp }),
    repos: z
      .array(RepoSummary)
      .meta({ description: 'Enabled repos that the connection has access to, ordered by name.' }),
    repo: RepoSummary.nullable().meta({ description: 'The repo given by `repo`. Null without the parameter.' }),
    pipelineStore: z.object({
      kind: z.literal('postgres'),
      connected: z.boolean(),
      schemaVersion: z.string().nullable(),
      host: z.string().nullable().meta({ description: description }),
      port: z.int().nullable().meta({ description: description }),
      database: z.string().nullable().meta({ description: description }),
      sslMode: z.string().nullable().meta({ description: description }),
    }),
    monitorUrl: z.string().nullable(),
    viewer: z.object({
      userId: z.string(),
      login: z.string(),
      role: z.enum(ROLES),
      scopes: z.array(z.string()),
    }),
    serverTimestamp: Timestamp,
  })
  .meta({ id: 'Bootstrap' });

const bootstrapExample = {
  org: { id: 1, slug: 'acme', name: 'Acme Inc', createdAt: '2026-01-01T00:00:00.000Z' },
  repos: [
    {
      id: 7,
      slug: 'acme/shop',
      owner: 'acme',
      name: 'shop',
      defaultBranch: 'main',
      vcsHost: 'github',
      enabled: true,
    },
  ],
  repo: null,
  pipelineStore: {
    kind: 'postgres',
    connected: true,
    schemaVersion: '0013-issue-lists',
    host: null,
    port: null,
    database: null,
    sslMode: null,
  },
  monitorUrl: 'https://monitor.example.org',
  viewer: { userId: '3', login: 'ann@example.org', role: 'member', scopes: ['pipeline:read'] },
  serverTimestamp: '2026-01-02T03:20:00.000Z',
};

export const bootstrap = route({
  ...read,
  id: 'bootstrap',
  path: '/api/cli/bootstrap',
  summary: 'Get organisation and repos',
  description:
    'Returns the organisation and user of the connection, the enabled repos that it has access to, and pipeline store information.',
  query: z.object({ repo: RepoQuery.optional() }),
  replies: { 200: { description: 'Bootstrap data.', body: Bootstrap, example: bootstrapExample } },
  errors: [repoNotFound],
});

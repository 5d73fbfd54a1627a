import { ROLES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../envelopes.ts';

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

const told = 'Null unless the operator publishes the store address (`TELL_STORE_DETAILS`).';

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
      host: z.string().nullable().meta({ description: told }),
      port: z.int().nullable().meta({ description: told }),
      database: z.string().nullable().meta({ description: told }),
      sslMode: z.string().nullable().meta({ description: told }),
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

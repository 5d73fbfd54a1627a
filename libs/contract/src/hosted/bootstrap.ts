import { ROLES } from '@pipeline/domain';
import { z } from 'zod';
import { Timestamp } from '../envelopes.ts';

const RepoSummary = z
  .object({
    id: z.int(),
    slug: z.string().meta({ description: 'owner/name, as the host spells it.', example: 'acme/shop' }),
    owner: z.string(),
    name: z.string(),
    defaultBranch: z.string(),
    vcsHost: z.string(),
    enabled: z.literal(true),
  })
  .meta({ id: 'RepoSummary' });

const told = 'Null unless the operator chose to tell.';

/** What a connection begins with: whose it is and what it reaches. */
export const Bootstrap = z
  .object({
    org: z.object({ id: z.int(), slug: z.string(), name: z.string(), createdAt: Timestamp }),
    repos: z.array(RepoSummary).meta({ description: 'Enabled repos that this connection reaches, by name.' }),
    repo: RepoSummary.nullable().meta({ description: 'The one that was asked for.' }),
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

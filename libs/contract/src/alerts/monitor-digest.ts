import { type DailyDigest as DomainDigest, KPI_MAGNITUDES, KPIS } from '@pipeline/domain';
import { z } from 'zod';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const fingerprint = z.string().meta({ description: 'Fingerprint of the error, the same across issues and repos.' });
const usd = z.number().nonnegative().nullable();

/** interface: Daily digest. */
const DailyDigest = z
  .object({
    date: z.iso.date().meta({ description: 'Current date, UTC.' }),
    pipelineByState: z.record(z.string(), count).meta({
      description:
        'Number of issues by `state:owner/repo`, followed by `@tenant` when several tenants have a repo with this name. Zero counts are omitted.',
      example: { 'planning:acme/shop': 3 },
    }),
    blockedCount: count.meta({ description: 'Number of open blocked issues.' }),
    recentErrors: z.array(z.object({ fingerprint, message: z.string(), count: z.int().positive() })).meta({
      description: 'Errors of runs in the last 24 hours with their latest message, most frequent first; at most 50.',
    }),
    dailyCostUsd: usd.meta({ description: 'Cost of the last 24 hours in USD. Null without cost events.' }),
    monthlyCostUsd: usd.meta({ description: 'Cost of the last 30 days in USD. Null without cost events.' }),
    topRegressedKpis: z
      .array(
        z.object({
          owner: z.string(),
          repo: z.string(),
          kpi: z.enum(KPIS),
          magnitude: z.enum(KPI_MAGNITUDES),
          currentSampleSize: count,
          baselineSampleSize: count,
          topBlockReasons: z.array(z.object({ blockReason: z.string(), count: z.int().positive() })),
          topFingerprints: z.array(z.object({ fingerprint, count: z.int().positive() })),
        }),
      )
      .meta({
        description:
          'Regressed KPIs, largest magnitude first; at most 10. Block reasons and fingerprints cover the last 7 days.',
      }),
  })
  .meta({ id: 'DailyDigest', description: 'Daily summary of the pipeline.' });

const wire: (digest: DomainDigest) => z.input<typeof DailyDigest> = (digest) => digest;
void wire;

const readDigest = route({
  id: 'readDigest',
  method: 'get',
  path: '/api/digest',
  summary: 'Get the daily digest',
  description: 'Covers the enabled repos of all tenants, as of now.',
  tags: ['Observability'],
  auth: 'operator',
  replies: { 200: { description: 'Daily digest.', body: z.object({ digest: DailyDigest }) } },
});

export const digestRoutes = [readDigest] as const;

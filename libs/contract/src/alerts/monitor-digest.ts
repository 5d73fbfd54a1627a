import { type DailyDigest as DomainDigest, KPI_MAGNITUDES, KPIS } from '@pipeline/domain';
import { z } from 'zod';
import { route } from '../wire/route.ts';

const count = z.int().nonnegative();
const fingerprint = z.string().meta({ description: 'Names the error across issues and repos.' });
const usd = z.number().nonnegative().nullable();

/** interface: Daily digest. */
export const DailyDigest = z
  .object({
    date: z.iso.date().meta({ description: 'Of today, UTC.' }),
    pipelineByState: z.record(z.string(), count).meta({
      description:
        'Issues by `state:owner/repo`, without those that are 0; `@tenant` follows where several tenants have one of that name.',
      example: { 'planning:acme/shop': 3 },
    }),
    blockedCount: count.meta({ description: 'Open issues that are marked as blocked.' }),
    recentErrors: z.array(z.object({ fingerprint, message: z.string(), count: z.int().positive() })).meta({
      description: 'Of runs of the last 24 hours, the most frequent first, with the newest message: at most 50.',
    }),
    dailyCostUsd: usd.meta({ description: 'Last 24 hours; null when nothing was booked.' }),
    monthlyCostUsd: usd.meta({ description: 'Last 30 days; null when nothing was booked.' }),
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
        description: 'What got worse, the largest magnitude first: at most 10; with what went wrong in 7 days.',
      }),
  })
  .meta({ id: 'DailyDigest', description: 'What the day came to.' });

const wire: (digest: DomainDigest) => z.input<typeof DailyDigest> = (digest) => digest;
void wire;

const readDigest = route({
  id: 'readDigest',
  method: 'get',
  path: '/api/digest',
  summary: 'Show what the day came to',
  description: 'Of all tenants and enabled repos, as of now.',
  tags: ['Observability'],
  auth: 'operator',
  replies: { 200: { description: 'The digest.', body: z.object({ digest: DailyDigest }) } },
});

export const digestRoutes = [readDigest] as const;

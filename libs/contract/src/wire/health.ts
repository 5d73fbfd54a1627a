import { z } from 'zod';
import { route } from './route.ts';

const PartHealth = z.enum(['ok', 'stale', 'off']);

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not-ready']),
    store: z.enum(['connected', 'unreachable', 'outdated', 'not-configured']),
    poll: PartHealth.meta({ description: 'Background loops that poll the version-control host and the store.' }),
    outbox: PartHealth.meta({
      description: 'Background loop that delivers queued writes to the version-control host.',
    }),
    stream: PartHealth.meta({ description: 'Background loop that feeds the event stream.' }),
    loops: z
      .array(
        z.object({
          name: z.string().meta({ example: 'metric-totals' }),
          problem: z.enum(['failing', 'late']),
        }),
      )
      .meta({
        description:
          'Unhealthy background loops: `failing` = three consecutive failed runs; `late` = no completed run for 60 s plus three times the interval. Empty when all loops are healthy.',
      }),
  })
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof Readiness>;

const open = { auth: 'none', needsStore: false, tags: ['Service'] } as const;

export const getHealth = route({
  ...open,
  id: 'getHealth',
  method: 'get',
  path: '/health',
  summary: 'Check liveness',
  description: 'Liveness probe. Returns 200 while the process runs, regardless of the store and other dependencies.',
  replies: {
    200: {
      description: 'The process is running.',
      body: z.object({
        status: z.literal('healthy'),
        uptime: z.number().nonnegative().meta({ description: 'Seconds since the start.', example: 12.5 }),
      }),
    },
  },
});

const getReadiness = route({
  ...open,
  id: 'getReadiness',
  method: 'get',
  path: '/ready',
  summary: 'Check readiness',
  description:
    'Readiness probe. Ready when the store is reachable with a current schema, the event stream runs and every background loop is healthy, or when no store is configured and none is required.',
  replies: {
    200: { description: 'Ready for traffic.', body: Readiness },
    503: { description: 'Not ready for traffic.', body: Readiness },
  },
});

const getOpenApi = route({
  ...open,
  id: 'getOpenApi',
  method: 'get',
  path: '/api/openapi.json',
  summary: 'Get the OpenAPI document',
  description: 'Returns the OpenAPI 3.1 document of this service.',
  replies: { 200: { description: 'The OpenAPI 3.1 document.', body: z.record(z.string(), z.unknown()) } },
});

export const healthRoutes = [getHealth, getReadiness, getOpenApi] as const;

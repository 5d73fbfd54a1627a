import { z } from 'zod';
import { route } from './route.ts';

const PartHealth = z.enum(['ok', 'stale', 'off']);

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not-ready']),
    store: z.enum(['connected', 'unreachable', 'outdated', 'not-configured']),
    poll: PartHealth.meta({ description: 'The loops that read from the host and the store.' }),
    outbox: PartHealth.meta({ description: 'The loop that writes to the host.' }),
    stream: PartHealth.meta({ description: 'The loop that feeds the event stream.' }),
    loops: z
      .array(
        z.object({
          name: z.string().meta({ example: 'metric-totals' }),
          problem: z.enum(['failing', 'late']),
        }),
      )
      .meta({
        description:
          'Background loops that failed three times in a row (failing) or finished no run for 60 s plus three times their interval (late). Empty when all work.',
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
  summary: 'Is the process alive',
  description: 'Answers as long as the process runs, whatever else is broken.',
  replies: {
    200: {
      description: 'Alive.',
      body: z.object({
        status: z.literal('healthy'),
        uptime: z.number().nonnegative().meta({ description: 'Seconds since the start.', example: 12.5 }),
      }),
    },
  },
});

export const getReadiness = route({
  ...open,
  id: 'getReadiness',
  method: 'get',
  path: '/ready',
  summary: 'Should the process get traffic',
  description:
    'Ready = the store is reachable and its schema is current, the event stream runs and every background loop works; or no store is configured and none is needed.',
  replies: {
    200: { description: 'Send traffic.', body: Readiness },
    503: { description: 'Send no traffic yet.', body: Readiness },
  },
});

export const getOpenApi = route({
  ...open,
  id: 'getOpenApi',
  method: 'get',
  path: '/api/openapi.json',
  summary: 'This description',
  description: 'The OpenAPI 3.1 document of everything that is served here.',
  replies: { 200: { description: 'The document.', body: z.record(z.string(), z.unknown()) } },
});

export const healthRoutes = [getHealth, getReadiness, getOpenApi] as const;

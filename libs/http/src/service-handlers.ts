import { type healthRoutes, openApiDocument, type Readiness, type Surface } from '@pipeline/contract';
import type { HandlersOf } from './request/handler.ts';

interface ServiceHandlerOptions {
  surface: Surface;
  readiness: () => Promise<Readiness> | Readiness;
  now: () => Date;
}

/** Handlers of /health, /ready and /api/openapi.json. The uptime starts with this call. */
export function serviceHandlers({ surface, readiness, now }: ServiceHandlerOptions): HandlersOf<typeof healthRoutes> {
  const startedAt = now().getTime();
  let document: string | undefined;
  return {
    getHealth: () => ({ status: 200, body: { status: 'healthy', uptime: (now().getTime() - startedAt) / 1000 } }),
    getReadiness: async () => {
      const body = await readiness();
      return body.status === 'ready' ? { status: 200, body } : { status: 503, body };
    },
    getOpenApi: () => {
      document ??= JSON.stringify(openApiDocument(surface));
      return { status: 200, json: document };
    },
  };
}

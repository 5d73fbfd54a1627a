import { bootstrap } from './accounts/hosted-bootstrap.ts';
import { oauthRoutes } from './accounts/hosted-oauth.ts';
import { pageRoutes } from './accounts/hosted-pages.ts';
import { pipelineOverview } from './analytics/hosted.ts';
import { browserRoutes } from './hosted-browser.ts';
import { webhookRoutes } from './intake/hosted.ts';
import { explainIssue, listIssues } from './issues/hosted.ts';
import { mcpRoutes } from './mcp/hosted.ts';
import { workerRoutes } from './queue/hosted.ts';
import { healthRoutes } from './wire/health.ts';
import { defineSurface } from './wire/surface.ts';
import { CONTRACT_VERSION } from './wire/version.ts';
import { missingAsset } from './wire/web-files.ts';

/** Routes that connections read. */
export const readRoutes = [bootstrap, listIssues, explainIssue, pipelineOverview] as const;

/** Surface A, the worker protocol, the webhooks and the OAuth server. */
export const hostedSurface = defineSurface({
  name: 'hosted',
  title: 'Pipeline hosted API',
  version: CONTRACT_VERSION,
  description:
    'Read-only access to the pipeline of one organisation for users and their programs (REST and MCP), the worker protocol for agents, the webhook endpoint of the version-control host, and the OAuth 2.1 server.',
  tags: [
    { name: 'Service', description: 'Health, readiness and the OpenAPI document.' },
    { name: 'Reads', description: 'Read-only endpoints for one organisation, authenticated with a connection token.' },
    { name: 'MCP', description: 'The read endpoints as Model Context Protocol tools for assistants.' },
    { name: 'Connections', description: 'OAuth 2.1 endpoints that give programs access on behalf of a user.' },
    { name: 'Worker protocol', description: 'Endpoints that workers use to claim tasks and report results.' },
    { name: 'Webhooks', description: 'Webhook deliveries of the version-control host.' },
  ],
  routes: [
    ...healthRoutes,
    ...readRoutes,
    ...mcpRoutes,
    ...workerRoutes,
    ...webhookRoutes,
    ...oauthRoutes,
    ...pageRoutes,
    ...browserRoutes,
  ],
  fallbacks: [missingAsset],
  requireJsonType: true,
  hostCheck: false,
  pageForUnknownPath: true,
  unknownPathAuth: ['connection', 'worker'],
});

import { bootstrap } from './accounts/hosted-bootstrap.ts';
import { oauthRoutes } from './accounts/hosted-oauth.ts';
import { pageRoutes } from './accounts/hosted-pages.ts';
import { pipelineOverview } from './analytics/hosted.ts';
import { webhookRoutes } from './intake/hosted.ts';
import { explainIssue, listIssues } from './issues/hosted.ts';
import { mcpRoutes } from './mcp/hosted.ts';
import { workerRoutes } from './queue/hosted.ts';
import { healthRoutes } from './wire/health.ts';
import { defineSurface } from './wire/surface.ts';
import { CONTRACT_VERSION } from './wire/version.ts';

/** What connections read. */
export const readRoutes = [bootstrap, listIssues, explainIssue, pipelineOverview] as const;

/** Surface A with the worker protocol and the webhooks. */
export const hostedSurface = defineSurface({
  name: 'hosted',
  title: 'Pipeline hosted API',
  version: CONTRACT_VERSION,
  description:
    'What the pipeline does with the issues of an organisation, for its people and their programs; work for agents; what the version-control host has to say.',
  tags: [
    { name: 'Service', description: 'The process itself.' },
    { name: 'Reads', description: 'What a connection may see: one organisation, read-only.' },
    { name: 'MCP', description: 'The same reads as tools for assistants.' },
    { name: 'Connections', description: 'How programs get access in the name of a user (OAuth 2.1).' },
    { name: 'Worker protocol', description: 'How workers get tasks and report on them.' },
    { name: 'Webhooks', description: 'Deliveries of the version-control host.' },
  ],
  routes: [
    ...healthRoutes,
    ...readRoutes,
    ...mcpRoutes,
    ...workerRoutes,
    ...webhookRoutes,
    ...oauthRoutes,
    ...pageRoutes,
  ],
  fallbacks: [],
  requireJsonType: true,
  hostCheck: false,
  pageForUnknownPath: true,
  unknownPathAuth: ['connection', 'worker'],
});

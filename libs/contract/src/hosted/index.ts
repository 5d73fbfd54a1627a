import { healthRoutes } from '../shared/health.ts';
import { defineSurface } from '../surface.ts';
import { CONTRACT_VERSION } from '../version.ts';
import { bootstrap } from './bootstrap.ts';
import { mcpRoutes } from './mcp.ts';
import { oauthRoutes } from './oauth.ts';
import { pipelineOverview } from './overview.ts';
import { pageRoutes } from './pages.ts';
import { explainIssue, listIssues } from './reads.ts';
import { webhookRoutes } from './webhooks.ts';
import { workerRoutes } from './worker.ts';

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

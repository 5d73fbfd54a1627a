export { createHostedClient, createMonitorClient, type HostedClient } from './client.ts';
export { clientCredentials } from './credentials.ts';
export { PipelineError } from './errors.ts';
export { ToolError } from './tools.ts';

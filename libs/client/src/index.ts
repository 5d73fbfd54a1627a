export { clientCredentials, createHostedClient, createMonitorClient, type HostedClient } from './client.ts';
export { PipelineError } from './errors.ts';
export { ToolError } from './tools.ts';

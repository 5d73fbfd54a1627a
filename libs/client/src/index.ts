export { createHostedClient, createMonitorClient } from './client.ts';
export { clientCredentials } from './credentials.ts';
export { PipelineError } from './errors.ts';

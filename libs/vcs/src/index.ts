export { createGitHubApp, type GitHubAppOptions } from './github/app.ts';
export type { ClientOptions, HostLog } from './github/client.ts';
export { HostError, type HostFailure } from './github/errors.ts';
export { createGitHubHost, type GitHubHostOptions } from './github/host.ts';
export { parseWebhook } from './webhooks/parse.ts';
export { createSignatureCheck } from './webhooks/signature.ts';

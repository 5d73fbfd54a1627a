export type { ClientOptions, HostLog } from './github/client.ts';
export { HostError, type HostFailure } from './github/errors.ts';
export { createGitHubHost, type GitHubHostOptions } from './github/host.ts';

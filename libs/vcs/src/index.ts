export type { ClientOptions, HostLog } from './github/client.ts';
export { HostError, type HostFailure } from './github/errors.ts';
export { createGitHubHost, type GitHubHostOptions } from './github/host.ts';
export type { NewHook, NewRepo, NewUser } from './sandbox/admin.ts';
export type { Fault } from './sandbox/faults.ts';
export { type SandboxHost, type SandboxOptions, startSandbox } from './sandbox/server.ts';
export { parseWebhook } from './webhooks/parse.ts';
export { createSignatureCheck } from './webhooks/signature.ts';

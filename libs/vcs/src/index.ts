export { createGitHubApp, type GitHubAppOptions } from './github/app/app.ts';
export { createGitHubAppHost } from './github/app/app-host.ts';
export {
  type AppRegistration,
  appRegistrationForm,
  type ConvertedApp,
  convertAppCode,
  type HostUrls,
  hostUrls,
} from './github/app/app-manifest.ts';
export type { ClientOptions } from './github/client.ts';
export { createGitHubDiagnostics } from './github/diagnostics.ts';
export { HostError } from './github/errors.ts';
export { createGitHubHost } from './github/host.ts';
export { parseWebhook } from './webhooks/parse.ts';
export { createSignatureCheck } from './webhooks/signature.ts';

export { createGitHubApp, createGitHubAppHost, type GitHubAppOptions } from './app/app-host.ts';
export { type AppRegistration, appRegistrationForm, type ConvertedApp, convertAppCode } from './app/app-manifest.ts';
export type { ClientOptions } from './client.ts';
export { createGitHubDiagnostics } from './diagnostics.ts';
export { createGitHubHost } from './host.ts';

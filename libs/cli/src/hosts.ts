import type { HostDiagnostics, VcsHost } from '@pipeline/domain';
import { envPemKey, parseEnv, requireAppKey } from '@pipeline/runtime';
import { z } from 'zod';

/** Host credentials, the same variables as those of the monitor. */
const Env = z.object({
  GITHUB_TOKEN: z.string().optional(),
  GITHUB_APP_ID: z.string().optional(),
  GITHUB_APP_PRIVATE_KEY: envPemKey().optional(),
  GITHUB_API_URL: z.url().default('https://api.github.com'),
  SANDBOX_URL: z.url().optional(),
  SANDBOX_TOKEN: z.string().optional(),
  SANDBOX_APP_ID: z.string().optional(),
  SANDBOX_APP_PRIVATE_KEY: envPemKey().optional(),
});

type Environment = Readonly<Record<string, string | undefined>>;

/** Bound on one request to a host; the client sends a failed read up to three times. */
const REQUEST_MS = 5_000;

/**
 * Returns the host client of a kind; null without credentials in the environment.
 * @throws EnvError for an invalid variable; StartError for an incomplete app.
 */
export async function connectHost(env: Environment, kind: string): Promise<VcsHost | null> {
  const access = hostAccess(env, kind);
  if (!access) return null;
  const { app, token, ...options } = access;
  // Loaded lazily: loading the host client takes 0.2 s.
  const { createGitHubAppHost, createGitHubHost } = await import('@pipeline/vcs/github');
  return app ? createGitHubAppHost({ ...options, ...app }) : createGitHubHost({ ...options, ...(token && { token }) });
}

/** Connects like `connectHost`, for diagnosis. */
export async function connectDiagnostics(env: Environment, kind: string): Promise<HostDiagnostics | null> {
  const access = hostAccess(env, kind);
  if (!access) return null;
  const { createGitHubDiagnostics } = await import('@pipeline/vcs/github');
  const { token, ...options } = access;
  return createGitHubDiagnostics({ ...options, ...(token && { token }) });
}

function hostAccess(env: Environment, kind: string) {
  const set = parseEnv(Env, env);
  const { baseUrl, token, app } =
    kind === 'sandbox'
      ? {
          baseUrl: set.SANDBOX_URL,
          token: set.SANDBOX_TOKEN,
          app: requireAppKey('SANDBOX', set.SANDBOX_APP_ID, set.SANDBOX_APP_PRIVATE_KEY),
        }
      : {
          baseUrl: set.GITHUB_API_URL,
          token: set.GITHUB_TOKEN,
          app: requireAppKey('GITHUB', set.GITHUB_APP_ID, set.GITHUB_APP_PRIVATE_KEY),
        };
  if (!baseUrl || !(app || token)) return null;
  const clientType = kind === 'sandbox' ? ('sandbox' as const) : ('github' as const);
  const options = { baseUrl, clientType, userAgent: 'pipeline-cli', timeoutMs: REQUEST_MS, now: () => new Date() };
  return { ...options, token, app: app ?? undefined };
}

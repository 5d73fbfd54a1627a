import type { VcsHost } from '@pipeline/domain';
import { parseEnv } from '@pipeline/runtime';
import { z } from 'zod';

/** Host credentials, the same variables as those of the monitor. */
const Env = z.object({
  GITHUB_TOKEN: z.string().optional(),
  GITHUB_API_URL: z.url().default('https://api.github.com'),
  SANDBOX_URL: z.url().optional(),
  SANDBOX_TOKEN: z.string().optional(),
});

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the host client of a kind; null without credentials in the environment. */
export async function connectHost(env: Environment, kind: string): Promise<VcsHost | null> {
  const { GITHUB_TOKEN, GITHUB_API_URL, SANDBOX_URL, SANDBOX_TOKEN } = parseEnv(Env, env);
  const access =
    kind === 'sandbox'
      ? { baseUrl: SANDBOX_URL, token: SANDBOX_TOKEN }
      : { baseUrl: GITHUB_API_URL, token: GITHUB_TOKEN };
  const { baseUrl, token } = access;
  if (!baseUrl || !token) return null;
  // Loaded lazily: loading the host client takes 0.2 s.
  const { createGitHubHost } = await import('@pipeline/vcs');
  const clientType = kind === 'sandbox' ? 'sandbox' : 'github';
  return createGitHubHost({ baseUrl, token, clientType, userAgent: 'pipeline-cli', now: () => new Date() });
}

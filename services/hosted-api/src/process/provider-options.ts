import { StartError } from '@pipeline/runtime';
import type { z } from 'zod';
import type { ProviderOptions } from '../accounts/providers/identity-providers.ts';
import type { hostedEnv } from './env.ts';

type Env = z.output<z.ZodObject<typeof hostedEnv>>;

/** The identity providers of a process. @throws StartError when only some variables of a provider are set. */
export function providerOptions(env: Env): ProviderOptions {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, GITHUB_LOGIN_CLIENT_ID, GITHUB_LOGIN_CLIENT_SECRET } = env;
  const openid = allOrNone({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET });
  const github = allOrNone({ GITHUB_LOGIN_CLIENT_ID, GITHUB_LOGIN_CLIENT_SECRET });
  return {
    openid: openid && {
      issuer: openid.OIDC_ISSUER,
      clientId: openid.OIDC_CLIENT_ID,
      clientSecret: openid.OIDC_CLIENT_SECRET,
      clientAuthMethod: env.OIDC_CLIENT_AUTH_METHOD,
      label: env.OIDC_LABEL,
    },
    github: github && {
      url: env.GITHUB_LOGIN_URL,
      clientId: github.GITHUB_LOGIN_CLIENT_ID,
      clientSecret: github.GITHUB_LOGIN_CLIENT_SECRET,
      label: env.GITHUB_LOGIN_LABEL,
    },
    limit: env.PROVIDER_LOGIN_RATE_LIMIT,
  };
}

/** The values of variables that belong together; undefined when none is set. @throws StartError when only some are. */
function allOrNone<N extends string>(variables: Record<N, string | undefined>): Record<N, string> | undefined {
  const names = Object.keys(variables) as N[];
  const missing = names.filter((name) => variables[name] === undefined);
  if (missing.length === names.length) return undefined;
  const set = names.filter((name) => !missing.includes(name));
  if (missing[0] !== undefined) throw new StartError(`${missing[0]}: must be set, because ${set.join(' and ')} is set`);
  return variables as Record<N, string>;
}

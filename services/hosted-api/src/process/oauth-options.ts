import { randomBytes } from 'node:crypto';
import { StartError } from '@pipeline/runtime';
import type { z } from 'zod';
import type { OauthOptions } from '../oauth/oauth.ts';
import type { hostedEnv } from './env.ts';

const DAY_SECONDS = 24 * 3600;

type Env = z.output<z.ZodObject<typeof hostedEnv>>;

/**
 * The OAuth settings of a process.
 * @throws StartError when it is reached by https and has no cookie keys: with one that it makes itself, a login that
 * begins at one replica could not end at another, and a restart would end logins in progress.
 */
export function oauthOptions(env: Env): OauthOptions {
  const [first, ...older] = env.OAUTH_COOKIE_KEYS ?? [];
  if (first === undefined && env.PUBLIC_URL?.startsWith('https:')) {
    throw new StartError(
      'OAUTH_COOKIE_KEYS: must be set when PUBLIC_URL is https, to the same value on all replicas; generate a key with openssl rand -hex 32',
    );
  }
  return {
    keys: [first ?? randomBytes(32).toString('hex'), ...older],
    lifetimes: {
      accessSeconds: env.ACCESS_TOKEN_SECONDS,
      refreshSeconds: env.REFRESH_TOKEN_DAYS * DAY_SECONDS,
      connectionSeconds: env.CONNECTION_DAYS * DAY_SECONDS,
    },
    limits: {
      logins: env.LOGIN_RATE_LIMIT,
      registrations: env.REGISTRATION_RATE_LIMIT,
      tokens: env.TOKEN_RATE_LIMIT,
    },
  };
}

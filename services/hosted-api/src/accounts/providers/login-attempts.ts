import { hashTokenBytes } from '@pipeline/engine';
import { type Db, saveArtifact, takeArtifact } from '@pipeline/store';
import { randomNonce, randomPKCECodeVerifier, randomState } from 'openid-client';
import { z } from 'zod';
import { INTERACTION_SECONDS } from '../token-lifetimes.ts';
import type { LoginSecrets } from './identity-provider.ts';

const MODEL = 'ProviderLogin';

const Stored = z.object({
  provider: z.string(),
  /** Path to which the login leads. */
  returnTo: z.string(),
  /** The logged-in user to whom the identity is to be linked; null = a login. */
  userId: z.int().nullable(),
  nonce: z.string(),
  codeVerifier: z.string(),
});

type LoginAttempt = z.output<typeof Stored> & LoginSecrets;

/**
 * Logins by a provider in progress. One is found by its state together with the form token of the browser that began it, so
 * that the callback of another browser leads nowhere. It is used once, and expires after 15 minutes.
 */
export class LoginAttempts {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  async begin(
    formToken: string,
    attempt: Pick<LoginAttempt, 'provider' | 'returnTo' | 'userId'>,
  ): Promise<LoginSecrets> {
    const state = randomState();
    const secrets = { nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
    await saveArtifact(this.#db, {
      model: MODEL,
      hash: hashOf(state, formToken),
      uid: null,
      payload: { ...attempt, ...secrets },
      ttlMs: INTERACTION_SECONDS * 1000,
    });
    return { state, ...secrets };
  }

  /** @returns null for a state of another browser, and for one that was used or has expired. */
  async take(formToken: string, state: string): Promise<LoginAttempt | null> {
    const payload = await takeArtifact(this.#db, MODEL, hashOf(state, formToken));
    return payload && { ...Stored.parse(payload), state };
  }
}

const hashOf = (state: string, formToken: string): Buffer => hashTokenBytes(`${state} ${formToken}`);

import type { ExternalIdentity } from '@pipeline/store';

/** Secrets of one login attempt, made for it and used once. */
export interface LoginSecrets {
  state: string;
  nonce: string;
  /** PKCE. */
  codeVerifier: string;
}

/** A service that confirms who a person is. */
export interface IdentityProvider {
  /** Name in paths. */
  readonly id: string;
  /** Name on buttons. */
  readonly label: string;
  /** @throws LoginProblem `failed` when the provider cannot be reached. */
  authorizationUrl(secrets: LoginSecrets): Promise<URL>;
  /**
   * Exchanges the code of a callback for the identity of the person.
   * @param query of the callback.
   * @throws LoginProblem
   */
  identify(query: URLSearchParams, secrets: LoginSecrets): Promise<ExternalIdentity>;
}

/** `denied` = the person or the provider refused; `unverified` = no verified email address; `failed` = anything else. */
type LoginProblemKind = 'denied' | 'unverified' | 'failed';

/** A provider did not confirm an identity. The message is for the log. */
export class LoginProblem extends Error {
  readonly kind: LoginProblemKind;

  constructor(kind: LoginProblemKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

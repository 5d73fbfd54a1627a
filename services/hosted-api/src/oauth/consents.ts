import { AsyncLocalStorage } from 'node:async_hooks';

/** Consent of a user, beyond the facts that the OAuth library stores about a grant. */
export interface Consent {
  tenantId: number;
  clientName: string;
}

/** Carries a consent to the adapter, past the library, whose grants have no place for it. */
export type Consents = AsyncLocalStorage<Consent>;

export const createConsents = (): Consents => new AsyncLocalStorage<Consent>();

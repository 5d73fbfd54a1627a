/** Methods by which a client authenticates at the token endpoint of a provider, as it is registered there. */
export const CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post'] as const;
export type ClientAuthMethod = (typeof CLIENT_AUTH_METHODS)[number];

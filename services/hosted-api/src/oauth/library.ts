/** The OAuth library, loaded when it is first used. */
export type OauthLibrary = typeof import('oidc-provider');

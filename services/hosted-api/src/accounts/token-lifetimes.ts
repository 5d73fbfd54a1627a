/** Lifetimes of tokens and connections, in seconds. */
export interface TokenLifetimes {
  accessSeconds: number;
  /** Lifetime of a refresh token from each use on. */
  refreshSeconds: number;
  /** Lifetime of a connection, however often it is refreshed. */
  connectionSeconds: number;
}

/** An authorization code waits for its program, one redirect away. */
export const CODE_SECONDS = 60;
/** The code that a program without a browser shows, until a person has decided and the program has polled. */
export const DEVICE_CODE_SECONDS = 10 * 60;
/** Login and consent, from the program's request on. */
export const INTERACTION_SECONDS = 15 * 60;

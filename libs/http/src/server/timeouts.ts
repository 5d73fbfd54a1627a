/** How long a client may take to send a request, in milliseconds. An answer may take as long as it needs. */
export interface RequestTimeouts {
  /** The head, from the opening of the connection or the first byte of the request: 408, and the connection is closed. */
  headMs: number;
  /** The body: 408 of the route, and the connection is closed. */
  bodyMs: number;
  /** The whole request, also where nobody reads the body: the connection is closed. Above the two others. */
  requestMs: number;
  /** How often connections are checked for headMs and requestMs; they may be closed so much later. */
  checkMs: number;
}

export const REQUEST_TIMEOUTS: RequestTimeouts = { headMs: 15_000, bodyMs: 40_000, requestMs: 60_000, checkMs: 2_000 };

/** Timeouts for receiving a request and between two, in milliseconds. Responses have no timeout. */
export interface RequestTimeouts {
  /** Request headers, from the opening of the connection or the first byte: returns 408 and closes the connection. */
  headMs: number;
  /** Body: the route returns 408 and the connection is closed. */
  bodyMs: number;
  /** Whole request, also when the body is not read: the connection is closed. Larger than the other two. */
  requestMs: number;
  /**
   * A connection without a request, announced to the client as `Keep-Alive`. Longer than the minute for which proxies keep one: a proxy
   * that sends a request into a connection while it is closed cannot repeat a POST and returns 502.
   */
  idleMs: number;
  /** Interval of the checks for headMs and requestMs; connections may be closed later by this time. */
  checkMs: number;
}

export const REQUEST_TIMEOUTS: RequestTimeouts = {
  headMs: 15_000,
  bodyMs: 40_000,
  requestMs: 60_000,
  idleMs: 75_000,
  checkMs: 2_000,
};

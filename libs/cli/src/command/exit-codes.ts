/** Exit codes; the higher ones are those of sysexits.h. */
export const EXIT = {
  ok: 0,
  /** The command was rejected; the message states the reason. */
  refused: 1,
  /** Invalid command line. */
  usage: 2,
  /** The database, the version-control host or the hosted API is not available; a retry may help. */
  unavailable: 69,
  /** Internal error. */
  internal: 70,
  /** There is no login, or it has ended. */
  notLoggedIn: 77,
  /** Invalid setting or schema version. */
  config: 78,
} as const;

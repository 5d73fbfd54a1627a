/** How a command ends; the higher ones are those of sysexits.h. */
export const EXIT = {
  ok: 0,
  /** What was asked for is refused; the message says why. */
  refused: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The database cannot be reached; trying again may help. */
  unavailable: 69,
  /** An error of the program itself. */
  internal: 70,
  /** A setting is wrong, such as DATABASE_URL or the schema's version. */
  config: 78,
} as const;

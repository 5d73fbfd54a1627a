/** sysexits.h: something is wrong in the configuration; a restart without a change will not help. */
export const EXIT_CONFIG = 78;

/** The process cannot start, for a reason that whoever runs it can mend. The message says how; no stack is shown. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, { cause, exitCode = EXIT_CONFIG }: { cause?: unknown; exitCode?: number } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}

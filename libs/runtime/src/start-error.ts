/** sysexits.h EX_CONFIG: invalid configuration; a restart without a change does not help. */
export const EXIT_CONFIG = 78;

/** The process cannot start for a reason that the operator can fix. The message describes the fix; no stack is printed. */
export class StartError extends Error {
  readonly exitCode: number;

  constructor(message: string, { cause, exitCode = EXIT_CONFIG }: { cause?: unknown; exitCode?: number } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StartError';
    this.exitCode = exitCode;
  }
}

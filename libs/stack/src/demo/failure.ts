import type { ErrorClass } from '@pipeline/domain';

/** Ends the run as a failure of a known class; any other error is taken for a transient one. */
export class AgentFailure extends Error {
  readonly errorClass: ErrorClass;

  constructor(errorClass: ErrorClass, message: string) {
    super(message);
    this.name = 'AgentFailure';
    this.errorClass = errorClass;
  }
}

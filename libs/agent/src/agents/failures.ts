import type { ErrorClass } from '@pipeline/domain';

/** Ends a task as a failure of a class; any other error is reported as transient. */
export class AgentFailure extends Error {
  readonly errorClass: ErrorClass;

  constructor(errorClass: ErrorClass, message: string) {
    super(message);
    this.name = 'AgentFailure';
    this.errorClass = errorClass;
  }
}

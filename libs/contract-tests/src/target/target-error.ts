/** The target cannot be tested: it does not answer, or it refuses the given credentials. */
export class TargetError extends Error {}

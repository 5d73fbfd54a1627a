/** The input is missing or invalid. */
export class InputError extends Error {}

/** Usage error detected by the command itself. */
export class UsageError extends Error {}

/** There is no login, or it has ended. */
export class LoginError extends Error {}

/** The service cannot be reached. */
export class ServiceError extends Error {}

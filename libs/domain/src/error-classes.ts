/** The class of an error: whether another try, a person or the reset of a quota resolves it. */
export const ERROR_CLASSES = ['transient', 'permanent', 'quota', 'unknown'] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

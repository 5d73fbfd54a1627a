/** The greatest value of an `integer` column. */
export const MAX_INTEGER = 2_147_483_647;

/** Maximum tokens of one kind in one model call. Their sums are unbounded. */
export const MAX_CALL_TOKENS = 1_000_000_000;

/** Maximum cost of one model call, in USD. */
export const MAX_CALL_USD = 100_000;

/** Maximum bytes of one file: the largest integer that a JSON number represents exactly. */
export const MAX_FILE_BYTES = 2 ** 53 - 1;

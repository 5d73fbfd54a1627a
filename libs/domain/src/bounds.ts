/** The greatest value of an `integer` column. */
export const MAX_INTEGER = 2_147_483_647;

/** Most tokens of one kind in one model call. Sums of them are kept without a bound. */
export const MAX_CALL_TOKENS = 1_000_000_000;

/** Most that one model call may cost, in USD. */
export const MAX_CALL_USD = 100_000;

/** Most bytes of one file: what a JSON number carries exactly. */
export const MAX_FILE_BYTES = 2 ** 53 - 1;

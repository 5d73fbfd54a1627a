import type { CustomTypesConfig } from 'pg';
import pg from 'pg';

type Parse = (text: string) => unknown;

/**
 * int8 and numeric: the nearest double, saturated at ±9007199254740991 (2^53 - 1), the greatest number that JSON carries
 * exactly. Only sums reach it: ids come from sequences. A read never fails because a stored number is large. Fractions
 * may round; money keeps its six digits up to 10^9.
 */
function parseNumber(text: string): number {
  const value = Number(text);
  if (Number.isNaN(value)) throw new RangeError(`numeric ${text} does not fit a JavaScript number`);
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value));
}

const parseDate = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ);

/** timestamptz: ISO 8601 in UTC with milliseconds, the form in which every time goes over the wire. */
function parseTimestamptz(text: string): string {
  const date: unknown = parseDate(text);
  if (!(date instanceof Date)) throw new RangeError(`timestamptz ${text} is out of range`);
  return date.toISOString();
}

// Arrays have oids of their own, and pg has no names for them.
const TEXT_ARRAY = 1009 as number;
const parseTexts = pg.types.getTypeParser(TEXT_ARRAY);
const arrayOf =
  (parse: Parse): Parse =>
  (text) =>
    (parseTexts(text) as (string | null)[]).map((item) => (item === null ? null : parse(item)));

const verbatim: Parse = (text) => text;

/** Parsers by type oid. */
const PARSERS: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [pg.types.builtins.INT8, parseNumber],
  [1016, arrayOf(parseNumber)],
  [pg.types.builtins.NUMERIC, parseNumber],
  [1231, arrayOf(parseNumber)],
  [pg.types.builtins.TIMESTAMPTZ, parseTimestamptz],
  [1185, arrayOf(parseTimestamptz)],
  [pg.types.builtins.DATE, verbatim],
  [1182, arrayOf(verbatim)],
]);

/**
 * Parsers that convert column values to JavaScript values, for one pool (nothing global is changed):
 * int8 and numeric -> number (saturated at ±2^53 - 1), timestamptz -> ISO 8601 string, date -> `YYYY-MM-DD`.
 */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    const own = format === 'binary' ? undefined : PARSERS.get(oid);
    return own ?? pg.types.getTypeParser(oid, format as 'text');
  }) as CustomTypesConfig['getTypeParser'],
};

import { parseSince, parseTimestamp } from '@pipeline/domain';
import { z } from 'zod';

/** Input timestamp: RFC 3339 with any offset. Parsing returns ISO 8601 in UTC with milliseconds. */
export const TimestampInput = z
  .string()
  .max(64)
  .refine(
    (text) => parseTimestamp(text) !== null,
    'must be an RFC 3339 date-time with Z or an offset, years 1970 to 9999',
  )
  .transform((text) => parseTimestamp(text)?.toISOString() ?? text)
  .meta({
    format: 'date-time',
    description: 'RFC 3339 date-time with `Z` or an offset such as `+02:00`, years 1970 to 9999; stored in UTC.',
    example: '2026-01-02T03:04:05.678+00:00',
  });

const inner = (pattern: RegExp): string => pattern.source.replace(/^\^/, '').replace(/\$$/, '');

const { date, datetime } = z.core.regexes;
/** Forms accepted by `parseSince`, including lower-case `t` and `z`. */
const SINCE_FORMS = [
  '\\d{1,6}[smhd]',
  inner(date),
  inner(datetime({ local: true, offset: true }))
    .replaceAll('T', '[Tt]')
    .replaceAll('Z', '[Zz]'),
];

/** Start of a list: a date or date-time (UTC without a zone), or a duration before now. */
export const SinceInput = z
  .string()
  .max(64)
  .refine((text) => parseSince(text, new Date(0)) !== null, {
    error: 'must be a timestamp, or a duration before now such as 5s, 30m, 1h or 2d',
  })
  .meta({ override: { pattern: `^(?:${SINCE_FORMS.join('|')})$` } });

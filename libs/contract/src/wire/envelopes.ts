import { ERROR_CODES, isStorable } from '@pipeline/domain';
import { z } from 'zod';

/** Body of every error response (interface: Shared envelopes; Errors 1). */
export const ApiError = z
  .object({
    error: z.string().meta({ description: 'Human-readable error message.' }),
    code: z.enum(ERROR_CODES).meta({ description: 'Machine-readable error code. See docs/errors.md.' }),
    status: z.int().meta({ description: 'HTTP status code of the response.' }),
  })
  .meta({ id: 'ApiError', description: 'Body of every error response.' });
export type ApiError = z.infer<typeof ApiError>;

export const Ok = z.object({ ok: z.literal(true) }).meta({ id: 'Ok' });

/** `total` is null on lists whose total is not counted. */
const Page = z
  .object({ total: z.int().nullable(), limit: z.int(), offset: z.int(), hasMore: z.boolean() })
  .meta({ id: 'Page' });

export const PaginatedResponse = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), page: Page });

export const UnpaginatedResponse = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), snapshot: z.literal(true) });

/** ISO 8601 in UTC, the form of every timestamp in a response. */
export const Timestamp = z.iso.datetime().meta({ example: '2026-01-02T03:04:05.678Z' });

/** Age of data served from memory; null before the first poll. */
export const PolledAt = Timestamp.nullable().meta({
  description:
    'Time at which the data was read from the store. Null before the first poll completes; an empty list is then not conclusive.',
});

/** A page of a list served from memory. */
export const CachedPage = <T extends z.ZodType>(item: T) => PaginatedResponse(item).extend({ polledAt: PolledAt });

/** Text that Postgres can store, for stored fields and for search terms. */
export const keptText = (max: number) =>
  z.string().max(max).refine(isStorable, 'must not contain NUL or unpaired surrogates');

export const Reason = keptText(5_000).meta({
  description: 'Reason for the action, at most 5000 characters. Stored unchanged in the history.',
});

/** A required, non-blank reason. */
export const RequiredReason = Reason.refine((text) => text.trim() !== '', 'must not be blank');
export const REASON_REFUSAL = {
  code: 'INVALID_ARGUMENT',
  message: 'reason must be a non-blank string of at most 5000 characters without NUL',
} as const;

/** Optional body of an operator action: the reason. */
export const withReason = { body: z.object({ reason: Reason.optional() }), bodyOptional: true } as const;

import { ERROR_CODES, isStorable } from '@pipeline/domain';
import { z } from 'zod';

/** The body of every error answer (interface: Shared envelopes; Errors 1). */
export const ApiError = z
  .object({
    error: z.string().meta({ description: 'What went wrong, for people.' }),
    code: z.enum(ERROR_CODES).meta({ description: 'What went wrong, for programs.' }),
    status: z.int().meta({ description: 'The HTTP status, repeated.' }),
  })
  .meta({ id: 'ApiError', description: 'Every error answer has this shape.' });
export type ApiError = z.infer<typeof ApiError>;

export const Ok = z.object({ ok: z.literal(true) }).meta({ id: 'Ok' });

/** `total` is null where counting would cost more than the page. */
export const Page = z
  .object({ total: z.int().nullable(), limit: z.int(), offset: z.int(), hasMore: z.boolean() })
  .meta({ id: 'Page' });

export const PaginatedResponse = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), page: Page });

export const UnpaginatedResponse = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), snapshot: z.literal(true) });

/** ISO 8601 in UTC, as every timestamp on the wire. */
export const Timestamp = z.iso.datetime().meta({ example: '2026-01-02T03:04:05.678Z' });

/** Of what is answered from memory: how old it is, and whether there is anything yet. */
export const PolledAt = Timestamp.nullable().meta({
  description:
    'When it was read from the store; null = the first poll has not ended, so that an empty list says nothing.',
});

/** A page of a list that is kept in memory. */
export const CachedPage = <T extends z.ZodType>(item: T) => PaginatedResponse(item).extend({ polledAt: PolledAt });

/** Text that is kept, or looked for among what is kept. */
export const keptText = (max: number) =>
  z.string().max(max).refine(isStorable, 'must hold no NUL and no half of a surrogate pair');

export const Reason = keptText(5_000).meta({ description: 'Why; kept in the history as it is given.' });

/** One that must be given. */
export const RequiredReason = Reason.refine((text) => text.trim() !== '', 'must not be blank');
export const REASON_REFUSAL = {
  code: 'INVALID_ARGUMENT',
  message: 'reason must be a non-blank string of at most 5000 characters, without NUL',
} as const;

/** The body of an operator's deed that needs none: why it is done. */
export const withReason = { body: z.object({ reason: Reason.optional() }), bodyOptional: true } as const;

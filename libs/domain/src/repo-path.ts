import { z } from 'zod';

const OUTSIDE = /^\/|(?:^|\/)\.\.(?:\/|$)/;

/** Paths are keys of an index, whose entries have at most 2,704 bytes. */
const MAX_BYTES = 2_000;

/** A path as git writes it: relative to the root of the repository, and never out of it. At most 2,000 bytes of UTF-8. */
export const repoPath = z
  .string()
  .min(1)
  .max(1_000)
  .refine((path) => Buffer.byteLength(path) <= MAX_BYTES, 'must have at most 2,000 bytes in UTF-8')
  .refine((path) => !OUTSIDE.test(path), 'must be relative to the root of the repository, without ".."');

import { z } from 'zod';

const OUTSIDE = /^\/|(?:^|\/)\.\.(?:\/|$)/;

/** A path as git writes it: relative to the root of the repository, and never out of it. */
export const repoPath = z
  .string()
  .min(1)
  .max(1_000)
  .refine((path) => !OUTSIDE.test(path), 'must be relative to the root of the repository, without ".."');

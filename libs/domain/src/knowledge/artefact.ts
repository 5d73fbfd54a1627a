import { z } from 'zod';

/** An artefact of a run for people to read. */
export const ArtefactInput = z.object({
  kind: z.string().min(1).max(100),
  mediaType: z.string().min(1).max(200).default('text/plain'),
  title: z.string().min(1).max(500),
  body: z.string().max(1_048_576),
});
export type ArtefactInput = z.infer<typeof ArtefactInput>;

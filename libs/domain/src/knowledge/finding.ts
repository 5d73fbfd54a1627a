import { MAX_INTEGER } from '../bounds.ts';
import { z } from '../lazy-zod.ts';
import { SEVERITIES } from '../severities.ts';

/** Fields of a piece of evidence besides its `kind`. */
const FIELDS = {
  ref: z.string().max(2_000),
  path: z.string().max(1_000),
  lineStart: z.int().min(0).max(MAX_INTEGER),
  lineEnd: z.int().min(0).max(MAX_INTEGER),
  url: z.string().max(2_000),
  summary: z.string().max(20_000),
};
const kind = z
  .string()
  .min(1)
  .max(100)
  .meta({ description: 'file, symbol, issue, pr, url, text, commit, test, log, route; others are accepted.' });

/** interface: Finding evidence. Other fields are kept. */
export const FindingEvidence = z
  .looseObject({ kind, ...z.object(FIELDS).partial().shape })
  .meta({ id: 'FindingEvidence', description: 'What a finding rests on.' });
export type FindingEvidence = z.infer<typeof FindingEvidence>;

const { ref, path, lineStart, lineEnd, url, summary } = FIELDS;

/** The same in the form of agents' reports: an optional field may also be null, and is then omitted. */
const FindingEvidenceInput = z
  .looseObject({
    kind,
    ref: ref.nullish(),
    path: path.nullish(),
    lineStart: lineStart.nullish(),
    lineEnd: lineEnd.nullish(),
    url: url.nullish(),
    summary: summary.nullish(),
  })
  .transform((given) => {
    const kept = Object.entries(given).filter(([key, value]) => value !== null || !(key in FIELDS));
    return Object.fromEntries(kept) as FindingEvidence;
  });

/** An observation of an agent about the code or the issue (interface: Agent finding). */
export const FindingInput = z.object({
  findingType: z.string().min(1).max(100),
  category: z.string().min(1).max(100),
  severity: z.enum(SEVERITIES),
  confidence: z.number().min(0).max(1).nullable().default(null),
  title: z.string().min(1).max(500),
  summary: z.string().min(1).max(20_000),
  recommendation: z.string().max(20_000).nullable().default(null),
  evidence: z.array(FindingEvidenceInput).max(100).default([]),
  metadata: z.record(z.string(), z.unknown()).default({}),
  blocksProgress: z.boolean().default(false),
});
export type FindingInput = z.infer<typeof FindingInput>;

import {
  CHANGED_FILES_SOURCES,
  FILE_METHODS,
  INTELLIGENCE_EVIDENCE_TYPES,
  INTELLIGENCE_KINDS,
  INTELLIGENCE_SCOPE_KINDS,
  OMISSION_REASONS,
  RETRIEVAL_AGENTS,
} from '@pipeline/domain';
import { z } from 'zod';
import { integerText, issueNumberText } from '../wire/parameter-texts.ts';

const number = issueNumberText('must be a positive whole number').transform(Number);

/** Who asks, about what, and how much may be given. */
export const RetrievalQuery = z.object({
  agent: z.enum(RETRIEVAL_AGENTS).meta({ description: 'For whom: each sees other kinds first.', example: 'developer' }),
  issue: number.optional().meta({ description: 'The issue that is worked on.', example: '7' }),
  pr: number.optional().meta({ description: 'The pull request that is reviewed.', example: '12' }),
  budget: integerText({ min: 1, max: 1_000_000 }, 'must be a whole number from 1 to 1000000')
    .transform(Number)
    .optional()
    .meta({ description: 'Tokens, in place of the configured budget.', example: '4000' }),
});

export const Snippet = z
  .object({
    kind: z.enum(INTELLIGENCE_KINDS),
    title: z.string(),
    summary: z.string(),
    scope: z.array(z.object({ kind: z.enum(INTELLIGENCE_SCOPE_KINDS), ref: z.string() })),
    evidence: z.array(
      z.object({
        type: z.enum(INTELLIGENCE_EVIDENCE_TYPES),
        ref: z.string().nullable(),
        path: z.string().nullable(),
        url: z.string().nullable(),
      }),
    ),
    confidence: z.number().min(0).max(1).nullable(),
    reason: z.string().meta({ description: 'Why it is given.' }),
    source: z.string(),
    itemId: z.string(),
    origin: z.literal('agent').meta({ description: 'Who wrote it: items are learnt from what agents report.' }),
    approved: z.boolean().meta({
      description:
        'Whether an operator has approved it. Where not, title and summary begin with a mark that says so; with `retrieval.agentKnowledge: approved` such items are not given.',
    }),
  })
  .meta({ id: 'IntelligenceSnippet', description: 'An item of intelligence as an agent is given it.' });

const count = z.int().nonnegative();

/** interface: Retrieval response. */
export const RetrievalResult = z
  .object({
    snippets: z.array(Snippet).meta({ description: 'Most relevant first.' }),
    omitted: z.array(z.object({ reason: z.enum(OMISSION_REASONS), count: z.int().positive() })),
    candidateFiles: z
      .array(z.object({ path: z.string(), score: z.number(), method: z.enum(FILE_METHODS), why: z.string() }))
      .meta({ description: 'Files that the work may touch, most likely first.' }),
    tokenEstimate: count.meta({ description: 'Of the snippets as JSON, counted with the o200k_base vocabulary.' }),
    truncated: z.boolean().meta({ description: 'Whether the budget left something out.' }),
    methodBreakdown: z.object({
      anchorsExtracted: count.meta({ description: 'Paths, names and words that were looked for.' }),
      anchorHits: count.meta({ description: 'Those of them that something was found by.' }),
      precedentHits: count.meta({ description: 'Earlier issues like this one.' }),
      embeddingHits: count.meta({ description: 'Items that are near in meaning.' }),
      corpusSize: count.meta({ description: 'Files in the map of the repo.' }),
      entityCount: count.meta({ description: 'Symbols in it.' }),
    }),
    retrievalContext: z.object({
      issueFound: z.boolean(),
      prFound: z.boolean().nullable().meta({ description: 'Null when no pull request was looked for.' }),
      titleUsed: z.string().nullable(),
      bodyLength: count,
      labelsUsed: z.array(z.string()),
      plannedFilesCount: count.nullable().meta({ description: 'Null for agents that are not told the plan.' }),
      changedFilesCount: count.nullable().meta({ description: 'Null when none could be looked at.' }),
      changedFilesSource: z.enum(CHANGED_FILES_SOURCES),
      embeddingEnabled: z.boolean(),
      embeddingError: z.string().nullable().meta({ description: 'Why meanings were not looked at, though enabled.' }),
    }),
  })
  .meta({ id: 'RetrievalResult', description: 'What an agent would be given, and how it was found.' });

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

/** Parameters of a retrieval: the agent role, the issue or pull request, and the token budget. */
export const RetrievalQuery = z.object({
  agent: z
    .enum(RETRIEVAL_AGENTS)
    .meta({ description: 'Agent role. Each role ranks the kinds of items differently.', example: 'developer' }),
  issue: number.optional().meta({ description: 'Number of the issue.', example: '7' }),
  pr: number.optional().meta({ description: 'Number of the pull request under review.', example: '12' }),
  budget: integerText({ min: 1, max: 1_000_000 }, 'must be a whole number from 1 to 1000000')
    .transform(Number)
    .optional()
    .meta({
      description: 'Token budget, 1 to 1000000. Default: `retrieval.tokenBudget` of the configuration.',
      example: '4000',
    }),
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
    reason: z.string().meta({ description: 'Why the item was selected.' }),
    source: z.string(),
    itemId: z.string(),
    origin: z.literal('agent').meta({ description: 'Author of the item. Items are derived from agent reports.' }),
    approved: z.boolean().meta({
      description:
        'Whether an operator approved the item. Title and summary of an unapproved item begin with a marker. With `retrieval.agentKnowledge: approved`, unapproved items are omitted.',
    }),
  })
  .meta({ id: 'IntelligenceSnippet', description: 'An intelligence item as included in an agent task.' });

const count = z.int().nonnegative();

/** interface: Retrieval response. */
export const RetrievalResult = z
  .object({
    snippets: z.array(Snippet).meta({ description: 'Most relevant first.' }),
    omitted: z.array(z.object({ reason: z.enum(OMISSION_REASONS), count: z.int().positive() })),
    candidateFiles: z
      .array(z.object({ path: z.string(), score: z.number(), method: z.enum(FILE_METHODS), why: z.string() }))
      .meta({ description: 'Files that the work is likely to change, most likely first.' }),
    tokenEstimate: count.meta({ description: 'Size of the snippets as JSON, in tokens of the o200k_base vocabulary.' }),
    truncated: z.boolean().meta({ description: 'True when the token budget excluded items.' }),
    methodBreakdown: z.object({
      anchorsExtracted: count.meta({ description: 'Number of search terms: paths, names and words.' }),
      anchorHits: count.meta({ description: 'Number of search terms with a match.' }),
      precedentHits: count.meta({ description: 'Number of similar earlier issues.' }),
      embeddingHits: count.meta({ description: 'Number of items found by embedding similarity.' }),
      corpusSize: count.meta({ description: 'Number of files in the code map of the repo.' }),
      entityCount: count.meta({ description: 'Number of symbols in the code map.' }),
    }),
    retrievalContext: z.object({
      issueFound: z.boolean(),
      prFound: z.boolean().nullable().meta({ description: 'Null when no pull request was requested.' }),
      titleUsed: z.string().nullable(),
      bodyLength: count,
      labelsUsed: z.array(z.string()),
      plannedFilesCount: count.nullable().meta({ description: 'Null for agent roles that do not receive the plan.' }),
      changedFilesCount: count.nullable().meta({ description: 'Null when changed files were not available.' }),
      changedFilesSource: z.enum(CHANGED_FILES_SOURCES),
      embeddingEnabled: z.boolean(),
      embeddingError: z
        .string()
        .nullable()
        .meta({ description: 'Why embedding search failed although it is enabled.' }),
    }),
  })
  .meta({
    id: 'RetrievalResult',
    description: 'Retrieved intelligence for an agent task, with diagnostics of the search.',
  });

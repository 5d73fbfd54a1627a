import { formatCount, plural } from '@pipeline/web/format/number.ts';
import type { Reply } from '../../api/types.ts';

type Result = Reply<'retrieveIntelligence'>;

const CHANGED: Readonly<Record<Result['retrievalContext']['changedFilesSource'], string>> = {
  stored: 'The changed files come from the stored pull request.',
  not_applicable: 'Changed files do not matter for this agent.',
  unavailable: 'The changed files of the pull request are not available.',
};

/** The diagnostics of a retrieval as sentences. */
export function diagnosis({ methodBreakdown, retrievalContext }: Result): string[] {
  const { anchorsExtracted, anchorHits, precedentHits, embeddingHits, corpusSize, entityCount } = methodBreakdown;
  const { issueFound, prFound, titleUsed, bodyLength, labelsUsed, plannedFilesCount } = retrievalContext;
  const { changedFilesCount, changedFilesSource, embeddingEnabled, embeddingError } = retrievalContext;
  return [
    issueFound
      ? `The text of the issue was used: “${titleUsed ?? ''}”, ${plural(bodyLength, 'character')} of body${labelsUsed.length > 0 ? `, labels ${labelsUsed.join(', ')}` : ''}.`
      : 'No issue was found: only what is known of the repository in general was searched.',
    ...(prFound === null ? [] : [prFound ? 'The pull request was found.' : 'The pull request was not found.']),
    `${formatCount(anchorHits)} of ${plural(anchorsExtracted, 'search term')} had a match.`,
    `${plural(precedentHits, 'similar earlier issue')} were compared.`,
    `The code map has ${plural(corpusSize, 'file')} and ${plural(entityCount, 'symbol')}.`,
    ...(plannedFilesCount === null ? [] : [`The plan names ${plural(plannedFilesCount, 'file')}.`]),
    changedFilesCount === null ? CHANGED[changedFilesSource] : `${plural(changedFilesCount, 'file')} changed.`,
    embeddingEnabled
      ? embeddingError
        ? `The search by similarity failed: ${embeddingError}`
        : `The search by similarity found ${plural(embeddingHits, 'item')}.`
      : 'The search by similarity is off.',
  ];
}

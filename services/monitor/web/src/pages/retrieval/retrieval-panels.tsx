import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatConfidence, formatCount, formatRatio, plural } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { words } from '../intelligence/columns.tsx';

const CHANGED: Readonly<Record<Result['retrievalContext']['changedFilesSource'], string>> = {
  stored: 'The changed files come from the stored pull request.',
  not_applicable: 'Changed files do not matter for this agent.',
  unavailable: 'The changed files of the pull request are not available.',
};

type Result = Reply<'retrieveIntelligence'>;

const OMITTED: Readonly<Record<Result['omitted'][number]['reason'], string>> = {
  budget: 'the token budget was used up',
  low_confidence: 'their confidence is too low',
  status: 'their status excludes them',
  duplicate: 'another item says the same',
  out_of_scope: 'they apply to other parts of the repository',
  evidence_missing: 'the files of their evidence are gone',
};

/** @param budget null = the configured one, which the API does not return. */
export function RetrievalPanels({ query, budget }: { query: UseQueryResult<Result>; budget: number | null }) {
  const result = query.data;
  return (
    <>
      <Panel title="Given to the agent" query={query} height={240}>
        {() => result && <Given result={result} budget={budget} />}
      </Panel>
      <Panel title="Files that the work is likely to change" query={query} height={160}>
        {() => result && <Files files={result.candidateFiles} />}
      </Panel>
      <Panel title="How it was searched" query={query} height={120}>
        {() =>
          result && (
            <ul className={layout.list}>
              {diagnosis(result).map((sentence) => (
                <li key={sentence}>{sentence}</li>
              ))}
            </ul>
          )
        }
      </Panel>
    </>
  );
}

function Given({ result, budget }: { result: Result; budget: number | null }) {
  const { snippets, omitted, tokenEstimate, truncated } = result;
  return (
    <div className={layout.stack}>
      <p>
        {plural(snippets.length, 'item')}, {plural(tokenEstimate, 'token')}
        {budget !== null && ` of ${formatCount(budget)}`}
        {truncated && <span className={layout.warning}>; the budget left items out</span>}
      </p>
      {budget !== null && (
        <meter className={layout.meter} aria-label="Used token budget" min={0} max={budget} value={tokenEstimate} />
      )}
      {snippets.length === 0 ? (
        <EmptyNote title="The agent would be given no items." />
      ) : (
        <ol className={layout.list}>
          {snippets.map((snippet) => (
            <li key={snippet.itemId} className={layout.item}>
              <div className={layout.line}>
                <PageLink to={`/knowledge/items/${snippet.itemId}`} className={layout.grow}>
                  {snippet.title}
                </PageLink>
                <span className={layout.muted}>
                  {words(snippet.kind)} · {formatConfidence(snippet.confidence)}
                </span>
                <span className={snippet.approved ? layout.good : layout.warning}>
                  {snippet.approved ? 'approved' : 'not approved'}
                </span>
              </div>
              <p className={layout.text}>{snippet.summary}</p>
              <p className={layout.muted}>Chosen: {snippet.reason}</p>
            </li>
          ))}
        </ol>
      )}
      {omitted.length > 0 && (
        <section>
          <h3>Left out</h3>
          <ul>
            {omitted.map(({ reason, count }) => (
              <li key={reason}>
                {plural(count, 'item')}: {OMITTED[reason]}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Files({ files }: { files: Result['candidateFiles'] }) {
  if (files.length === 0) return <EmptyNote title="No file was found." />;
  return (
    <FiguresTable
      caption="Most likely first"
      head={['File', 'Score', 'Found by', 'Why']}
      rows={files.map(({ path, score, method, why }) => [
        <code key="path">{path}</code>,
        formatRatio(score),
        method,
        why,
      ])}
    />
  );
}

/** The diagnostics of a retrieval as sentences. */
function diagnosis({ methodBreakdown, retrievalContext }: Result): string[] {
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

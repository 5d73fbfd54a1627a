import { FiguresTable } from '@pipeline/web/charts/figures-table.tsx';
import { formatConfidence, formatCount, formatRatio, plural } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { words } from '../intelligence/columns.tsx';
import { diagnosis } from './diagnosis.ts';

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

import { Button } from '@pipeline/web/components/button.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { plural } from '@pipeline/web/format/number.ts';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { Page } from '@pipeline/web/page/page.tsx';
import { useQuery } from '@tanstack/react-query';
import { resolveAllPlan, resolveDeadLetterPlan, retryDeadLetterPlan } from '../../actions/dead-letter-actions.ts';
import { IssueAction } from '../../actions/issue-action.tsx';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { IssueLink } from '../../navigation/issue-link.tsx';
import { useRepo } from '../../navigation/use-repo.ts';
import { Panel } from '../../page/panel.tsx';
import styles from './dead-letters.module.css';

type DeadLetter = Reply<'listDeadLetters'>['items'][number];

const POLL_MS = 10_000;

/** Page of the transitions that failed permanently, grouped by their error. */
export default function DeadLettersPage() {
  const { repo } = useRepo();
  const query = useQuery(read('listDeadLetters', { query: { limit: 500 } }, POLL_MS));
  const total = query.data?.page.total ?? 0;
  const shown = (query.data?.items ?? []).filter((entry) => repo === undefined || repoOf(entry) === repo);
  const groups = [...Map.groupBy(shown, ({ error }) => error)].sort((a, b) => b[1].length - a[1].length);
  return (
    <Page
      title="Dead letters"
      actions={total > 0 && <Button onPress={() => startAction(resolveAllPlan(total))}>Resolve all …</Button>}
    >
      <Panel
        title={query.data ? plural(shown.length, 'unresolved dead letter') : 'Unresolved dead letters'}
        metrics={['dlq_depth']}
        query={query}
        polledAt={query.data?.polledAt}
        height={300}
      >
        {() =>
          groups.length === 0 ? (
            <EmptyNote tone="good" title="No transition failed for good." />
          ) : (
            groups.map(([error, items]) => <ErrorGroup key={error} error={error} items={items} />)
          )
        }
      </Panel>
    </Page>
  );
}

const repoOf = ({ repoOwner, repoName }: DeadLetter): string => `${repoOwner}/${repoName}`;

function ErrorGroup({ error, items }: { error: string; items: readonly DeadLetter[] }) {
  return (
    <details className={styles.group} open={items.length <= 10}>
      <summary>
        <span className={styles.error}>{error}</span> <span className={styles.count}>{items.length}</span>
      </summary>
      <ul>
        {items.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ul>
    </details>
  );
}

function Entry({ entry }: { entry: DeadLetter }) {
  const { id, issueNumber, fromState, targetState, agentName, createdAt } = entry;
  const target = { id, repo: repoOf(entry), issueNumber };
  return (
    <li className={styles.entry}>
      <span className={styles.issue}>
        <IssueLink repo={target.repo} issueNumber={issueNumber} />
        <IssueAction repo={target.repo} issueNumber={issueNumber} />
      </span>
      <span className={styles.move}>
        {fromState && <StateChip state={fromState} />}
        <Glyph name="right" size={12} />
        <StateChip state={targetState} />
      </span>
      <span className={styles.muted}>
        {agentName ?? 'no agent'}, <When at={createdAt} />
      </span>
      <span className={styles.buttons}>
        <Button onPress={() => startAction(retryDeadLetterPlan(target))}>Retry …</Button>
        <Button onPress={() => startAction(resolveDeadLetterPlan(target))}>Resolve …</Button>
      </span>
    </li>
  );
}

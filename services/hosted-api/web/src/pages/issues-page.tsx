import { oneOf } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { usePages } from '@pipeline/web/api/use-pages.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { formatIssueCost } from '@pipeline/web/format/money.ts';
import { plural } from '@pipeline/web/format/number.ts';
import { PageLink } from '@pipeline/web/navigation/page-link.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { labelOf, STATE_NAMES } from '@pipeline/web/states/states.ts';
import { request } from '../api/request.ts';
import type { Issue } from '../api/types.ts';
import { pollMs } from '../live/poll.ts';
import { RepoPage } from './repo-page.tsx';

const FILTERS = ['open', 'blocked', 'paused', ...STATE_NAMES] as const;
const FIELDS = { state: oneOf(FILTERS, 'open') };
const WORDS: Readonly<Record<string, string>> = { open: 'All open', blocked: 'Blocked', paused: 'Paused' };
const CHOICES = FILTERS.map((value) => ({ value, label: WORDS[value] ?? labelOf(value) }));

/** Page of the issues in the pipeline with their states. */
export default function IssuesPage() {
  return <RepoPage title="Issues">{(place) => <RepoIssues {...place} />}</RepoPage>;
}

const idOf = ({ issueNumber }: Issue): string => String(issueNumber);

function RepoIssues({ org, repo }: { org: string; repo: string }) {
  const { values, rejected, set } = useAddress(FIELDS);
  const { query, items, total, loadMore } = usePages({
    key: ['browserIssues', org, repo, values.state],
    load: (offset, signal) => request('browserIssues', { query: { org, repo, state: values.state, offset } }, signal),
    idOf,
    pollMs,
  });
  return (
    <Page title={`Issues of ${repo}`} rejected={rejected}>
      <div className={layout.filters}>
        <SelectField
          label="State"
          hideLabel
          choices={CHOICES}
          value={values.state}
          onChange={(state) => set({ state })}
        />
        {total !== null && <span className={layout.muted}>{plural(total, 'issue')}</span>}
      </div>
      <Panel title="Longest in its state first" query={query} height={240}>
        {() => <IssueList issues={items} />}
      </Panel>
      {loadMore && <Button onPress={loadMore}>Show more</Button>}
    </Page>
  );
}

function IssueList({ issues }: { issues: readonly Issue[] }) {
  if (issues.length === 0)
    return (
      <EmptyNote title="No issue matches.">
        <p>Add the label svc:enqueue to an issue on the host to hand it to the pipeline.</p>
      </EmptyNote>
    );
  return (
    <ul className={layout.list}>
      {issues.map((issue) => (
        <li key={issue.issueNumber} className={layout.item}>
          <PageLink to={`/issues/${issue.issueNumber}`}>
            #{issue.issueNumber} <TitleText text={issue.title} />
          </PageLink>
          <span className={layout.row}>
            <StateChip state={issue.state} isPaused={issue.isPaused} isBlocked={issue.isBlocked} />
            <span className={layout.muted}>
              for <When at={issue.stateEnteredAt} as="since" />
            </span>
            <span className={layout.muted}>cost {formatIssueCost(issue.costUsd, issue.state !== 'new')}</span>
            {issue.currentStatus && <span className={layout.muted}>{issue.currentStatus}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
